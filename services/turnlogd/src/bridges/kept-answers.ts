import { decideFlush, type EmittedEvent, type ReportOutcome } from '@turnlog/bridge';
import type { OperationResult } from '@turnlog/events';
import type { Completed } from '../commands/answers.ts';

/*
 * What the log keeps of the answers of commands on bridges, and the answers made of it again: seqs are looked
 * up, and a token is made anew instead of being logged.
 */

/** Of `bridge.record`. */
export interface KeptRecord {
  bridgeId: string;
  accepted: number;
  durableThrough: number;
  attached: boolean;
  /** When the bridge began; where it began with this command, that is when the command was done. */
  since?: number;
}

/** Of `bridge.event`; `fact` counts the events that the command caused. */
interface KeptReport {
  accepted: number;
  durableThrough: number;
  emitted: EmittedEvent[];
}

export function recordAnswer(
  { answer, seq, at }: Completed,
  ownerToken: (bridgeId: string, since: number) => string,
): OperationResult<'bridge.record'> {
  const { bridgeId, since = at, ...kept } = answer as KeptRecord;
  return { ...kept, seq, ownerToken: ownerToken(bridgeId, since) };
}

export function keptReport(outcome: ReportOutcome, accepted: number): KeptReport {
  return {
    accepted,
    durableThrough: outcome.snapshot.context.through,
    emitted: outcome.emitted,
  };
}

export async function reportAnswer(completed: Completed): Promise<OperationResult<'bridge.event'>> {
  const { emitted, ...kept } = completed.answer as KeptReport;
  const told = await Promise.all(
    emitted.map(async ({ event, fact }) => {
      const seq = fact === undefined ? undefined : await completed.seqOfCaused(fact);
      return seq === undefined ? event : { ...event, seq };
    }),
  );
  return { ...kept, seq: completed.seq, emitted: told };
}

/** The outcome with what would wait for more written as well. */
export function withNothingGathered(outcome: ReportOutcome, accepted: number): ReportOutcome {
  const flushed = decideFlush(outcome.snapshot, outcome.gathering, accepted);
  return { ...outcome, ...flushed, facts: [...outcome.facts, ...flushed.facts] };
}
