import { TurnlogError } from '@turnlog/events';
import { ProjectionError, storageError } from '../errors.ts';
import { type FedBatch, feed, isFoldError } from './feed.ts';
import type { EngineLimits } from './limits.ts';
import type { LiveProjection } from './live-projection.ts';
import type { Mutex } from './mutex.ts';
import type { EventSource } from './source.ts';
import type { TableStore } from './table-store.ts';

export interface RunnerOptions {
  source: EventSource;
  store: TableStore;
  live: readonly LiveProjection[];
  /** Held by every commit, and by whoever changes slots or marks. */
  commitLock: Mutex;
  limits: EngineLimits;
  /** Called where there may be files to render. */
  onMarks: () => void;
  /** Called after every batch that was written. */
  onAdvanced: () => void;
  /** Called where the log could not be read, which may pass. */
  onSourceFailed: () => void;
}

/**
 * Keeps the live projections at the head of the log. When an event cannot be folded, or the store cannot be
 * written, it stops there and says so to everyone who waits: the log is not touched, and no event is passed
 * over.
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #unsubscribe: () => void;
  #running: Promise<void> | undefined;
  #failure: ProjectionError | undefined;
  #stopping = false;
  #built = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#unsubscribe = options.source.onCommit(() => this.wake());
  }

  /** Why the projections do not follow the log any more. */
  get failure(): ProjectionError | undefined {
    return this.#failure ?? this.#options.store.failure;
  }

  wake(): void {
    if (this.#running !== undefined || this.#stopping || this.failure !== undefined) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // What was committed after the last look at the head found this still running.
      if (this.#checkpoint < this.#options.source.head()) this.wake();
    });
  }

  /** Ends what a failure of a fold began, once the projection was built anew. */
  resume(): void {
    this.#failure = undefined;
    this.wake();
  }

  fail(error: ProjectionError): void {
    this.#failure ??= error;
    for (const live of this.#options.live) live.failed(this.#failure);
  }

  /**
   * Folds what is committed, then follows no more. A first build that is still under way is not waited
   * for: it goes on from its checkpoint at the next open.
   */
  async stop(): Promise<void> {
    this.#unsubscribe();
    if (this.#options.live.every((live) => live.built)) {
      this.wake();
      await this.#running;
    }
    this.#stopping = true;
    await this.#running;
    const closed = new ProjectionError('store_closed', 'the projections are closed');
    for (const live of this.#options.live) live.failed(closed);
  }

  async #run(): Promise<void> {
    const { source, store, live, commitLock, limits } = this.#options;
    try {
      while (!this.#stopping && this.#checkpoint < source.head()) {
        await feed({
          source,
          store,
          slots: () => live.map(({ slot }) => slot),
          until: source.head(),
          limits,
          exclusively: (commit) => commitLock.run(commit),
          onBatch: (batch) => this.#advanced(batch),
          shouldStop: () => this.#stopping,
        });
      }
    } catch (error) {
      const failure = failureOf(error);
      this.fail(failure);
      if (MAY_PASS.has(failure.code) && !isFoldError(failure)) this.#options.onSourceFailed();
    }
  }

  #advanced({ marked }: FedBatch): void {
    const { live, onMarks, onAdvanced } = this.#options;
    onAdvanced();
    for (const each of live) each.advanced();
    // Nothing is rendered while a first build is under way: what it marked waits for its end.
    const built = this.#built || live.every((each) => each.built);
    if (marked || built !== this.#built) onMarks();
    this.#built = built;
  }

  get #checkpoint(): number {
    return Math.min(...this.#options.live.map(({ slot }) => slot.checkpoint));
  }
}

const MAY_PASS: ReadonlySet<string> = new Set(['storage_full', 'store_failed']);

/** What keeps the projections from following, with the code of the log where the log has failed. */
function failureOf(error: unknown): ProjectionError {
  if (error instanceof ProjectionError) return error;
  if (!(error instanceof TurnlogError)) return storageError(error, 'the projections cannot follow the log');
  return new ProjectionError(error.code, `the log cannot be read: ${error.message}`, error.details, {
    cause: error,
  });
}
