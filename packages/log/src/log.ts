import type { Envelope, TurnlogError } from '@turnlog/events';
import type { AppendResult } from './append-queue.ts';
import { callAll } from './call-all.ts';
import { closedError } from './errors.ts';
import type { LogLimits } from './limits.ts';
import type {
  CommitListener,
  FollowOptions,
  LogState,
  OpeningReport,
  ReadOptions,
  ReadStreamOptions,
} from './log-types.ts';
import { assertNotAhead } from './open-index.ts';
import { type AnyNewEvent, type AppendOptions, assertCount, assertStream } from './prepare-append.ts';
import { RecentEvents } from './recent-events.ts';
import { ReopeningStore, type ReopeningStoreParts } from './reopening-store.ts';
import { firstRevisionFrom, revisionIn, streamEvents } from './stream-reads.ts';
import { type Verification, type VerifyOptions, verifyRecords } from './verify-records.ts';
import { WakeSignal } from './wake-signal.ts';

export interface LogParts
  extends Pick<ReopeningStoreParts, 'opened' | 'reopen' | 'hasRoom' | 'after' | 'clock'> {
  limits: LogLimits;
  /** Gives back what the opening took besides the databases. */
  release(): Promise<void>;
}

/** The append-only log: what is in it is on disk, in one order, and never changes. */
export class Log {
  readonly opening: OpeningReport;
  readonly #release: () => Promise<void>;
  readonly #store: ReopeningStore;
  readonly #recent: RecentEvents;
  readonly #listeners = new Set<CommitListener>();
  readonly #reopeningListeners = new Set<(reason: TurnlogError) => void>();
  /** Given at every commit and at the close. */
  readonly #signal = new WakeSignal();
  #closing: Promise<void> | undefined;

  /** Made by `openLog` alone. */
  constructor({ release, ...parts }: LogParts, opening: OpeningReport) {
    this.opening = opening;
    this.#release = release;
    this.#recent = new RecentEvents(parts.limits);
    this.#store = new ReopeningStore({
      ...parts,
      onCommitted: (events, bytes) => {
        this.#recent.add(events, bytes);
        this.#committed(events);
      },
      onFound: (events) => this.#committed(events),
      onReopened: (reason) => callAll(this.#reopeningListeners, (listener) => listener(reason)),
    });
  }

  /**
   * Appends events to a stream, all or none. Resolves when they are on disk.
   *
   * Whoever awaits his appends is slowed to the speed of the disk; what waits is bounded. The events must not
   * be changed before the promise settles.
   * @throws TurnlogError `revision_conflict`, `event_conflict`, `invalid_argument`, `too_large`, `overloaded`;
   *   `storage_full` and `store_failed`: the outcome is unknown, and once the log is ready again a retry with
   *   the same ids decides; `store_closed`
   */
  append(stream: string, events: readonly AnyNewEvent[], options: AppendOptions = {}): Promise<AppendResult> {
    return this.#store.append(stream, events, options);
  }

  /** The seq of the last committed event; 0 for an empty log. */
  head(): number {
    return this.#store.head;
  }

  state(): LogState {
    return this.#store.state();
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
    while (first <= last) {
      const opened = await this.#store.ready();
      try {
        for await (const page of opened.reader.pages({ from: first, to: last, reverse })) {
          const end = page.at(-1)?.seq ?? first;
          if (reverse) last = end - 1;
          else first = end + 1;
          yield page;
        }
        return;
      } catch (error) {
        if (!this.#store.wasReplaced(opened, error)) throw error;
      }
    }
  }

  /** The events of one stream, by revision. */
  async *readStream(
    stream: string,
    { from = 1, limit = Number.MAX_SAFE_INTEGER }: ReadStreamOptions = {},
  ): AsyncGenerator<Envelope, void, undefined> {
    assertStream(stream);
    assertCount('from', from, 1);
    assertCount('limit', limit, 0);
    const last = Math.min(await this.revisionOf(stream), from + limit - 1);
    let next = from;
    while (next <= last) {
      const opened = await this.#store.ready();
      try {
        for await (const event of streamEvents(opened, stream, next, last)) {
          next = event.revision + 1;
          yield event;
        }
      } catch (error) {
        if (!this.#store.wasReplaced(opened, error)) throw error;
      }
    }
  }

  /** How many events a stream has; 0 for one that nobody appended to. */
  async revisionOf(stream: string): Promise<number> {
    assertStream(stream);
    this.#assertOpen();
    return await this.#store.reading((opened) => revisionIn(opened, stream));
  }

  /** The seq of the event that has this id, given by whoever appended it. */
  async seqOf(id: string): Promise<number | undefined> {
    this.#assertOpen();
    return await this.#store.reading(async ({ index }) => (await index.index.seqsOf([id])).get(id));
  }

  /** The first revision of a stream whose event has this seq or a later one; its head + 1 where none has. */
  async firstRevisionFrom(stream: string, seq: number): Promise<number> {
    assertStream(stream);
    this.#assertOpen();
    return await this.#store.reading((opened) => firstRevisionFrom(opened, stream, seq));
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

  /**
   * Calls a listener each time the store was opened again, with why that was necessary. What became of appends
   * that had failed is known from then on.
   * @returns how to stop listening
   */
  onReopened(listener: (reason: TurnlogError) => void): () => void {
    this.#reopeningListeners.add(listener);
    return () => this.#reopeningListeners.delete(listener);
  }

  /** Looks at every record and names what is damaged or missing; goes on behind damage. */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    this.#assertOpen();
    return await this.#store.reading(({ reader, index }) =>
      verifyRecords({ reader, index: index.index, head: this.head() }, options),
    );
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
    try {
      await this.#store.close();
    } finally {
      await this.#release();
    }
  }

  #committed(events: readonly Envelope[]): void {
    callAll(this.#listeners, (listener) => listener(events));
    this.#signal.give();
  }

  #isOver(signal: AbortSignal | undefined): boolean {
    return signal?.aborted === true || this.#closing !== undefined;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw closedError();
  }
}
