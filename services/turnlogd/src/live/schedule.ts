import type { EmittedEvent } from '@turnlog/bridge';
import type { LiveEvent } from '@turnlog/events';

/** What is only shown, in its place among the facts of a call. */
export interface Schedule {
  /** For each fact what comes before it. */
  before: LiveEvent[][];
  /** What comes after the last of them. */
  after: LiveEvent[];
}

/** Places what no fact holds before the fact that comes next in the order of the reports. */
export function scheduleOf(emitted: readonly EmittedEvent[], facts: number): Schedule {
  const before: LiveEvent[][] = Array.from({ length: facts }, () => []);
  const after: LiveEvent[] = [];
  let bucket = after;
  for (const { event, fact } of emitted.toReversed()) {
    if (fact === undefined) bucket.unshift(event);
    else bucket = before[fact] ?? after;
  }
  return { before, after };
}
