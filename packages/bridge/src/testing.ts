import type { MeterState, ReportedEvent } from '@turnlog/events';
import { decideReports } from './decide-report.ts';
import type { Fact } from './facts.ts';
import type { Gathering } from './gathering.ts';
import { advance, type BridgeSnapshot, requestBridge } from './machine.ts';
import type { ReportOutcome } from './report-outcome.ts';

/** A recorded bridge as tests drive it: what was reported is committed at once. */
export interface RecordedBridge {
  snapshot: BridgeSnapshot;
  gathering: Gathering | undefined;
  accepted: number;
  meter: MeterState | undefined;
  madeIds: number;
  /** What a turn that begins does to others. */
  endsOfOthers: Fact[];
  /** Every fact so far. */
  log: Fact[];
}

export function givenBridge(given: { provider?: string; meter?: MeterState } = {}): RecordedBridge {
  const { provider = 'codex' } = given;
  const fields = { bridgeId: 'b1', provider, sessionKey: `s1:${provider}` };
  const requested: Fact<'bridge_requested'> = {
    type: 'bridge_requested',
    data: { ...fields, mode: 'recorded', conversationKey: 'thread:s1' },
    at: 1,
  };
  const started: Fact<'bridge_started'> = { type: 'bridge_started', data: fields };
  return {
    snapshot: advance(requestBridge(undefined, requested), started),
    gathering: undefined,
    accepted: 0,
    meter: given.meter,
    madeIds: 0,
    endsOfOthers: [],
    log: [requested, started],
  };
}

/** Reports in one call, and commits what was decided. */
export function report(bridge: RecordedBridge, ...reports: ReportedEvent[]): ReportOutcome {
  const outcome = decideReports({
    snapshot: bridge.snapshot,
    gathering: bridge.gathering,
    meter: bridge.meter,
    reports,
    first: bridge.accepted + 1,
    endsOfOthers: () => bridge.endsOfOthers,
    newPromptId: () => `p${++bridge.madeIds}`,
  });
  bridge.snapshot = outcome.snapshot;
  bridge.gathering = outcome.gathering;
  bridge.accepted += reports.length;
  bridge.log.push(...outcome.facts);
  return outcome;
}

/** What a test compares: the type and the data without what every fact of the bridge repeats. */
export function told(facts: readonly Fact[]): Record<string, unknown>[] {
  return facts.map(({ type, data }) => {
    const { bridgeId: _, provider: __, sessionKey: ___, ...rest } = data as Record<string, unknown>;
    return { type, ...rest };
  });
}
