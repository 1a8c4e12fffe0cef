import type { Envelope } from '@turnlog/events';
import type { AppendResult } from './append-queue.ts';
import { closedError, damagedAt, LogError } from './errors.ts';
import { GroupCommit } from './group-commit.ts';
import type { LogLimits } from './limits.ts';
import type {
  CommitListener,
  FollowOptions,
  LogState,
  OpeningReport,
  ReadOptions,
  ReadStreamOptions,
} from './log-types.ts';
import { assertNotAhead, type OpenedIndex } from './open-index.ts';
import { type AnyNewEvent, type AppendOptions, assertCount, assertStream } from './prepare-append.ts';
import { RecentEvents } from './recent-events.ts';
import type { RecordReader } from './record-reader.ts';
import type { Database } from './store.ts';
import { type Verification, type VerifyOptions, verifyRecords } from './verify-records.ts';
import { WakeSignal } from './wake-signal.ts';

export interface LogParts {
  database: Database;
  reader: RecordReader;
  index: OpenedIndex;
  head: number;
  clock: () => number;
  limits: LogLimits;
  /** Gives back what the opening took besides the databases. */
  release(): Promise<void>;
}

/** The append-only log: what is in it is on disk, in one order, and never changes. */
export class Log {
  readonly opening: OpeningReport;
  readonly #parts: LogParts;
  readonly #writer: GroupCommit;
  readonly #recent: RecentEvents;
  readonly #listeners = new Set<CommitListener>();
  /** Given at every commit and at the close. */
  readonly #signal = new WakeSignal();
  #closing: Promise<void> | undefined;

  /** Made by `openLog` alone. */
  constructor(parts: LogParts, opening: OpeningReport) {
    this.#parts = parts;
    this.opening = opening;
    this.#recent = new RecentEvents(parts.limits);
    this.#writer = new GroupCommit({
      ...parts,
      index: parts.index.index,
      onCommitted: (events, bytes) => this.#committed(events, bytes),
    });
  }

  /**
   * Appends events to a stream, all or none. Resolves when they are on disk.
   *
   * Where the queue is full the append waits in line, and its promise with it: whoever awaits his appends is
   * slowed to the speed of the disk. The events must not be changed before the promise settles.
   * @throws TurnlogError `revision_conflict`, `event_conflict`, `invalid_argument`, `too_large`; `storage_full`
   *   and `store_failed`: the outcome is unknown, a retry with the same ids decides; `store_closed`
   */
  append(stream: string, events: readonly AnyNewEvent[], options: AppendOptions = {}): Promise<AppendResult> {
    return this.#writer.append(stream, events, options);
  }

  /** The seq of the last committed event; 0 for an empty log. */
  head(): number {
    return this.#writer.head;
  }

  state(): LogState {
    const reason = this.#writer.failure;
    return reason === undefined ? { state: 'ready' } : { state: 'read_only', reason };
  }

  /** Events in the order of the log, none left out. Sees everything acknowledged before it is begun. */
  async *read(options: ReadOptions = {}): AsyncGenerator<Envelope, void, undefined> {
    for await (const page of this.readPages(options)) {
      for (const event of page) yield event;
    }
  }

  /** The same in pages of about a megabyte, for those who read a lot. */
  async *readPages({
    from = 1,
    to,
    limit,
    reverse = false,
  }: ReadOptions): AsyncGenerator<Envelope[], void, undefined> {
    assertCount('from', from, 1);
    if (limit !== undefined) assertCount('limit', limit, 0);
    this.#assertOpen();
    let first = from;
    let last = Math.min(to ?? Number.MAX_SAFE_INTEGER, this.head());
    if (limit !== undefined && reverse) first = Math.max(first, last - limit + 1);
    else if (limit !== undefined) last = Math.min(last, first + limit - 1);
    yield* this.#parts.reader.pages({ from: first, to: last, reverse });
  }

  /** The events of one stream, by revision. */
  async *readStream(
    stream: string,
    { from = 1, limit = Number.MAX_SAFE_INTEGER }: ReadStreamOptions = {},
  ): AsyncGenerator<Envelope, void, undefined> {
    assertStream(stream);
    assertCount('from', from, 1);
    assertCount('limit', limit, 0);
    const head = await this.revisionOf(stream);
    const last = Math.min(head, from + limit - 1);
    let expected = from;
    if (expected > last) return;
    for await (const places of this.#parts.index.index.placesOf(stream, from)) {
      const wanted = places.filter(({ revision }) => revision <= last);
      for (const event of await this.#parts.reader.many(wanted.map(({ seq }) => seq))) {
        if (event.stream !== stream || event.revision !== expected) {
          throw damagedAt(
            event.seq,
            `the index takes event ${event.seq} for revision ${expected} of ${stream}`,
          );
        }
        yield event;
        expected += 1;
      }
      if (expected > last) return;
    }
    throw new LogError('store_damaged', `the index has lost revision ${expected} of ${stream}`, {
      stream,
      expected,
    });
  }

  /** How many events a stream has; 0 for one that nobody appended to. */
  async revisionOf(stream: string): Promise<number> {
    assertStream(stream);
    this.#assertOpen();
    return (await this.#parts.index.index.revisionsOf(new Set([stream]))).get(stream) ?? 0;
  }

  /** The seq of the event that has this id, given by whoever appended it. */
  async seqOf(id: string): Promise<number | undefined> {
    this.#assertOpen();
    return (await this.#parts.index.index.seqsOf([id])).get(id);
  }

  /** The first revision of a stream whose event has this seq or a later one; its head + 1 where none has. */
  async firstRevisionFrom(stream: string, seq: number): Promise<number> {
    let low = 1;
    let high = (await this.revisionOf(stream)) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await this.#parts.index.index.placeOf(stream, middle)).seq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Everything from a seq on and then each event as it is committed, without a gap. Nothing is buffered for
   * who is slow: he reads from the store. Ends quietly when the signal aborts or the log is closed.
   */
  async *follow({ from, signal }: FollowOptions): AsyncGenerator<Envelope, void, undefined> {
    assertCount('from', from, 1);
    let next = from;
    while (!this.#isOver(signal)) {
      if (next > this.head()) {
        await this.#signal.wait(signal);
        continue;
      }
      try {
        const recent = this.#recent.from(next);
        for await (const page of recent === undefined ? this.readPages({ from: next }) : [recent]) {
          for (const event of page) {
            yield event;
            next = event.seq + 1;
            if (this.#isOver(signal)) return;
          }
        }
      } catch (error) {
        if (!this.#isOver(signal)) throw error;
      }
    }
  }

  /** @returns how to stop listening */
  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Looks at every record and names what is damaged or missing; goes on behind damage. */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    this.#assertOpen();
    return await verifyRecords(this.#parts.reader, this.head(), options);
  }

  /**
   * Checks that a projection has seen nothing that the log does not have.
   * @throws LogError `store_damaged`
   */
  assertCheckpoint(name: string, seq: number): void {
    assertNotAhead(name, seq, this.head());
  }

  /** Answers what was accepted, then closes. Whoever follows comes to an end. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    this.#signal.give();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writer.close();
    try {
      // A log that failed may have an index that failed: it is not marked as closed in order.
      if (this.#writer.failure === undefined) await this.#parts.index.close();
      else await this.#parts.index.abandon();
    } finally {
      await this.#parts.database.close();
      await this.#parts.release();
    }
  }

  #committed(events: readonly Envelope[], bytes: number): void {
    this.#recent.add(events, bytes);
    for (const listener of this.#listeners) {
      try {
        listener(events);
      } catch (error) {
        // The events are on disk whatever a listener does. Its fault is not swallowed, but thrown outside.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    this.#signal.give();
  }

  #isOver(signal: AbortSignal | undefined): boolean {
    return signal?.aborted === true || this.#closing !== undefined;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw closedError();
  }
}
