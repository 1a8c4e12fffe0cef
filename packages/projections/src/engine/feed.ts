import { assert, type CommittedEvent, type Envelope, TurnlogError, upcast } from '@turnlog/events';
import { describeError, ProjectionError } from '../errors.ts';
import type { EngineLimits } from './limits.ts';
import type { Slot } from './slot.ts';
import type { EventSource } from './source.ts';
import type { TableStore, Write } from './table-store.ts';

export interface FedBatch {
  /** The last seq of the batch. */
  seq: number;
  /** Whether it marked files dirty. */
  marked: boolean;
}

export interface FeedOptions {
  source: EventSource;
  store: TableStore;
  /** Asked again for every batch, within `exclusively`. */
  slots: () => readonly Slot[];
  /** The last seq that is folded. */
  until: number;
  limits: EngineLimits;
  /** Runs a commit so that nothing else happens to the slots meanwhile. */
  exclusively?: (commit: () => Promise<void>) => Promise<void>;
  /** Called after every batch. */
  onBatch?: (batch: FedBatch) => void;
  /** Asked after every batch: ends the feed there. */
  shouldStop?: () => boolean;
}

/**
 * Reads the log once from the slot that is furthest behind on, and folds every event into each slot that
 * has not had it. Rows, marks and checkpoints of all slots are one batch, so that a crash leaves every slot
 * as it was at the end of some batch. An event that cannot be folded ends the feed; it is never skipped.
 */
export async function feed(options: FeedOptions): Promise<void> {
  const { source, store, slots, until, limits, exclusively = (commit) => commit() } = options;
  const from = Math.min(...slots().map((slot) => slot.checkpoint)) + 1;
  if (from > until) return;
  for await (const events of batchesOf(source.readPages({ from, to: until }), from, limits)) {
    let marked = false;
    await exclusively(async () => {
      marked = await foldAndCommit(store, slots(), events);
    });
    options.onBatch?.({ seq: lastSeq(events), marked });
    if (options.shouldStop?.()) return;
  }
}

async function* batchesOf(
  pages: AsyncIterable<readonly Envelope[]>,
  from: number,
  { batchEventsMax }: EngineLimits,
): AsyncGenerator<readonly Envelope[]> {
  let expected = from;
  for await (const page of pages) {
    for (let start = 0; start < page.length; start += batchEventsMax) {
      const batch = page.slice(start, start + batchEventsMax);
      for (const { seq } of batch) {
        if (seq !== expected) throw gapError(expected, seq);
        expected += 1;
      }
      yield batch;
    }
  }
}

function gapError(expected: number, found: number): ProjectionError {
  const message = `the log has no event ${expected}: event ${found} comes instead`;
  return new ProjectionError('store_damaged', message, { expected, found });
}

/** Answers whether any file was marked dirty. */
async function foldAndCommit(
  store: TableStore,
  slots: readonly Slot[],
  events: readonly Envelope[],
): Promise<boolean> {
  const last = lastSeq(events);
  const behind = slots.filter((slot) => slot.checkpoint < last);
  try {
    for (const event of events) await fold(behind, event);
    const marked = behind.some((slot) => slot.tables.marksPending);
    const writes = behind.map((slot): Write[] => slot.tables.writes(last));
    await store.write(writes.flat());
    for (const [index, slot] of behind.entries()) {
      slot.tables.committed(writes[index] ?? []);
      slot.checkpoint = last;
    }
    return marked;
  } catch (error) {
    for (const slot of behind) slot.tables.discard();
    throw error;
  }
}

/**
 * Folds the events from one seq to another into one slot, and leaves what they change pending.
 * @throws ProjectionError where nothing is left pending
 */
export async function foldInMemory(
  { source, limits }: Pick<FeedOptions, 'source' | 'limits'>,
  slot: Slot,
  from: number,
  until: number,
): Promise<void> {
  if (from > until) return;
  try {
    for await (const events of batchesOf(source.readPages({ from, to: until }), from, limits)) {
      for (const event of events) await fold([slot], event);
    }
  } catch (error) {
    slot.tables.discard();
    throw error;
  }
}

/** An event of a type that the catalogue does not know is passed over: no fold could know what it says. */
async function fold(slots: readonly Slot[], stored: Envelope): Promise<void> {
  const event = upcast(stored);
  if (event === undefined) return;
  for (const slot of slots) {
    if (event.seq <= slot.checkpoint) continue;
    slot.tables.seq = event.seq;
    try {
      const folding = slot.projection.evolve(slot.tables, event);
      if (folding !== undefined) await folding;
    } catch (error) {
      throw foldError(error, slot.projection.name, event);
    }
  }
}

/** Whether an event could not be folded, which no opening of the store would change. */
export function isFoldError({ details }: ProjectionError): boolean {
  return details?.projection !== undefined && details.type !== undefined;
}

/** What the store or the log said is left as it is: it is no fault of the fold. */
function foldError(error: unknown, projection: string, event: CommittedEvent): ProjectionError {
  if (error instanceof ProjectionError) return error;
  const code =
    error instanceof TurnlogError && error.code === 'storage_full' ? 'storage_full' : 'store_failed';
  return new ProjectionError(
    code,
    `event ${event.seq} (${event.type}) could not be folded into ${projection}: ${describeError(error)}`,
    { projection, seq: event.seq, type: event.type },
    { cause: error },
  );
}

function lastSeq(events: readonly Envelope[]): number {
  const last = events.at(-1);
  assert(last !== undefined, 'a batch holds an event');
  return last.seq;
}
