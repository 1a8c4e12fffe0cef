import type { Envelope, TurnlogError } from '@turnlog/events';
import type { AppendResult } from './append-queue.ts';
import { closedError, codesOf, storeErrorOf } from './errors.ts';
import { GroupCommit } from './group-commit.ts';
import type { LogLimits } from './limits.ts';
import type { LogState } from './log-types.ts';
import { closeStore, type OpenedStore } from './opened-store.ts';
import { PatientRetry, type Timer } from './patient-retry.ts';
import type { AnyNewEvent, AppendOptions } from './prepare-append.ts';

/*
 * The databases of a log for as long as it is open, and what happens when a write of theirs fails.
 *
 * From the failure on nothing is written through these handles, for LevelDB would acknowledge what it then
 * loses: appends are refused with the reason, and reads go on. Once there is room both databases are closed
 * and opened again; reads wait for that. The head is read anew, for the batch that failed may be in the log
 * all the same; what is found of it is told to listeners before appends are taken again. Where the log ends
 * before what was acknowledged it is damaged, and stays closed.
 */

export interface ReopeningStoreParts {
  opened: OpenedStore;
  /** Opens what is on disk anew; refuses it where it ends before `head`. */
  reopen(head: number): Promise<OpenedStore>;
  /** Whether there is the room that opening may take. */
  hasRoom(): Promise<boolean>;
  after: Timer;
  clock: () => number;
  limits: LogLimits;
  /** Called with each group once it is on disk, before its callers are answered. */
  onCommitted(events: readonly Envelope[], bytes: number): void;
  /** Called with what a reopening found in the log that nobody was told of. */
  onFound(events: readonly Envelope[]): void;
  /** Called after a reopening, when appends are taken again, with why they were not. */
  onReopened(reason: TurnlogError): void;
}

export class ReopeningStore {
  readonly #parts: ReopeningStoreParts;
  readonly #retry: PatientRetry;
  #opened: OpenedStore | undefined;
  #writer: GroupCommit;
  /** Why appends are refused. */
  #failure: TurnlogError | undefined;
  #reopening: Promise<boolean> | undefined;
  #isClosing = false;

  constructor(parts: ReopeningStoreParts) {
    this.#parts = parts;
    this.#opened = parts.opened;
    this.#writer = this.#writerFor(parts.opened);
    this.#retry = new PatientRetry({
      after: parts.after,
      delayMs: parts.limits.reopenDelayMs,
      delayMsMax: parts.limits.reopenDelayMsMax,
      isWorthwhile: () => parts.hasRoom(),
      attempt: () => {
        this.#reopening = this.#reopen().finally(() => {
          this.#reopening = undefined;
        });
        return this.#reopening;
      },
    });
  }

  /** The seq of the last committed event. */
  get head(): number {
    return this.#writer.head;
  }

  state(): LogState {
    if (this.#failure === undefined) return { state: 'ready' };
    const reads = this.#opened !== undefined || this.#reopening !== undefined;
    return { state: reads ? 'read_only' : 'unavailable', reason: this.#failure };
  }

  append(stream: string, events: readonly AnyNewEvent[], options: AppendOptions): Promise<AppendResult> {
    if (this.#isClosing) return Promise.reject(closedError());
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return this.#writer.append(stream, events, options);
  }

  /**
   * The open databases, once they are.
   * @throws TurnlogError `store_closed`; or why they could not be opened again
   */
  async ready(): Promise<OpenedStore> {
    while (this.#reopening !== undefined && !this.#isClosing) await this.#reopening;
    if (this.#isClosing) throw closedError();
    if (this.#opened === undefined) throw this.#failure ?? closedError();
    return this.#opened;
  }

  /** Whether a read failed only because its databases were closed to be opened again. */
  wasReplaced(used: OpenedStore, error: unknown): boolean {
    return !this.#isClosing && used !== this.#opened && codesOf(error).includes('store_closed');
  }

  /** Runs a read, and runs it again where its databases were closed under it to be opened again. */
  async reading<Value>(read: (opened: OpenedStore) => Promise<Value>): Promise<Value> {
    for (;;) {
      const opened = await this.ready();
      try {
        return await read(opened);
      } catch (error) {
        if (!this.wasReplaced(opened, error)) throw error;
      }
    }
  }

  /** Answers what was accepted, then closes. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#retry.stop();
    await this.#writer.close();
    const opened = this.#opened;
    this.#opened = undefined;
    // A log that failed may have an index that failed: it is not marked as closed in order.
    if (opened !== undefined) await closeStore(opened, this.#failure === undefined);
  }

  #writerFor({ database, reader, index, head }: OpenedStore): GroupCommit {
    const { clock, limits } = this.#parts;
    return new GroupCommit({
      ...{ database, reader, index: index.index, head, clock, limits },
      onCommitted: (events, bytes) => {
        this.#retry.worked();
        this.#parts.onCommitted(events, bytes);
      },
      onFailed: (failure) => {
        this.#failure = failure;
        this.#retry.begin();
      },
    });
  }

  /** Answers whether there is nothing left to try. */
  async #reopen(): Promise<boolean> {
    const failed = this.#opened;
    const reason = this.#failure ?? closedError();
    this.#opened = undefined;
    try {
      await this.#writer.close();
      const { head } = this.#writer;
      if (failed !== undefined) await closeStore(failed, false);
      const opened = await this.#parts.reopen(head);
      this.#opened = opened;
      this.#writer = this.#writerFor(opened);
      for await (const page of opened.reader.pages({ from: head + 1, to: opened.head })) {
        this.#parts.onFound(page);
      }
    } catch (error) {
      this.#failure = storeErrorOf(error, 'opening the log again');
      return this.#failure.code === 'store_damaged';
    }
    this.#failure = undefined;
    this.#parts.onReopened(reason);
    return true;
  }
}
