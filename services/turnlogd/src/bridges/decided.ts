import { advance, type Fact, type ReportOutcome } from '@turnlog/bridge';
import type { OpenBridge } from './open-bridge.ts';

/** What is decided for a bridge: facts to append, and how it is once they are. */
export type Decided = Pick<ReportOutcome, 'facts' | 'snapshot' | 'gathering'> &
  Partial<Pick<ReportOutcome, 'emitted' | 'startsTurn'> & { accepted: number }>;

/** The bridge after facts that leave nothing gathered. */
export function applied(bridge: OpenBridge, facts: Fact[]): Decided {
  return { facts, snapshot: facts.reduce(advance, bridge.snapshot), gathering: undefined };
}
