import { assert } from '@turnlog/events';
import { nodeFileSystem } from '@turnlog/log';
import { ProjectionError, storageError } from '../errors.ts';
import { type CheckReport, check } from './check.ts';
import type { BuildOptions, EngineParts } from './fresh-build.ts';
import type { EngineLimits } from './limits.ts';
import { LiveProjection } from './live-projection.ts';
import { Mutex } from './mutex.ts';
import type { EngineHooks } from './open-engine.ts';
import type { ProjectionsOptions } from './open-projections.ts';
import { markClean } from './opening.ts';
import type { TableReader } from './projection.ts';
import { type RebuildReport, rebuild } from './rebuild.ts';
import { RenderedFiles } from './rendered-files.ts';
import { Renderer } from './renderer.ts';
import { Runner } from './runner.ts';
import type { Slot } from './slot.ts';
import { SnapshotTables } from './snapshot-tables.ts';
import { type ProjectionStatus, type ReadResult, statusOf } from './status.ts';
import type { TableStore } from './table-store.ts';
import { UnwrittenTail } from './unwritten-tail.ts';

/**
 * The projections from one opening of their database to the next: their tables to read, their files, and what
 * keeps them true. After a write that failed it only reads, until `Projections` opens the database again.
 */
export class Engine {
  readonly #options: ProjectionsOptions;
  readonly #parts: EngineParts;
  readonly #runner: Runner;
  readonly #tail: UnwrittenTail;
  /** One rebuild or check at a time: each holds slots and reads the whole log. */
  readonly #maintenance = new Mutex();
  readonly #closing = new AbortController();
  readonly #active = new Set<Promise<unknown>>();
  /** Why rows of an earlier version could not be made anew. */
  #renewalFailure: ProjectionError | undefined;

  /** Made by `openEngine` alone. */
  constructor(
    options: ProjectionsOptions,
    hooks: EngineHooks,
    store: TableStore,
    slots: readonly Slot[],
    limits: EngineLimits,
    head: number,
  ) {
    this.#options = options;
    const { source, clock } = options;
    const live = slots.map((slot) => new LiveProjection(slot, head));
    const commitLock = new Mutex();
    const files = new RenderedFiles(options.fileSystem ?? nodeFileSystem, options.dataDirectory);
    const renderer = new Renderer({ store, live, commitLock, files, clock, limits });
    this.#parts = { source, store, live, commitLock, renderer, files, limits };
    this.#tail = new UnwrittenTail(this.#parts);
    this.#runner = new Runner({
      ...{ source, store, live, commitLock, limits },
      onMarks: () => renderer.notice(),
      onAdvanced: hooks.onWritten,
      onSourceFailed: hooks.onTrouble,
    });
    for (const event of ['onFailure', 'onDamage'] as const) {
      store[event] = (failure) => {
        this.#runner.fail(failure);
        hooks.onTrouble();
      };
    }
    renderer.notice();
    this.#runner.wake();
    void this.#renew();
  }

  /** Why the projections do not follow the log any more. */
  get failure(): ProjectionError | undefined {
    return this.#runner.failure;
  }

  /** The damage that was found in the tables, which are then to be made anew. */
  get damage(): ProjectionError | undefined {
    return this.#parts.store.damage;
  }

  /**
   * Reads the tables of a projection as they are at one seq, which is at least the head of the log at the
   * call: everything acknowledged before is seen.
   * @param atLeast a seq that the caller knows to be committed
   * @throws ProjectionError `storage_full`, `store_failed` where the projection cannot catch up,
   *   `store_closed`, `invalid_argument`
   */
  async read<Value>(
    name: string,
    task: (tables: TableReader) => Value | Promise<Value>,
    { atLeast = 0 }: { atLeast?: number } = {},
  ): Promise<ReadResult<Value>> {
    const { source, store } = this.#parts;
    const live = this.#liveOf(name);
    const head = source.head();
    if (atLeast > head) {
      throw new ProjectionError('invalid_argument', `the log ends at ${head}, before ${atLeast}`, {
        atLeast,
        head,
      });
    }
    return await this.#whileOpen(async () => {
      try {
        await this.#reached(live, head);
      } catch (error) {
        // What cannot be written can still be read.
        if (store.failure === undefined) throw error;
        return await this.#tail.read(live, head, task);
      }
      const snapshot = store.snapshot();
      try {
        const tables = new SnapshotTables(store, live.slot.id, snapshot);
        const { seq } = tables;
        assert(seq >= head, 'a read sees everything acknowledged before it');
        return { value: await task(tables), seq };
      } finally {
        await snapshot.close();
      }
    });
  }

  async status(): Promise<ProjectionStatus[]> {
    return await this.#whileOpen(() =>
      Promise.all(
        this.#parts.live.map((live) =>
          statusOf(this.#parts, live, this.#runner.failure, this.#renewalFailure),
        ),
      ),
    );
  }

  /**
   * Waits until every file shows what was acknowledged before the call.
   * @throws ProjectionError the first file that could not be rendered, or why the projections cannot catch up
   */
  async flush(): Promise<{ seq: number }> {
    return await this.#whileOpen(async () => {
      const head = this.#parts.source.head();
      await this.#allReached(head);
      await this.#parts.renderer.flush();
      return { seq: head };
    });
  }

  /**
   * Makes projections anew from the whole log, while reads go on. It also mends a projection whose rows are
   * damaged; where an event cannot be folded it fails the same way, and nothing is changed.
   */
  async rebuild(options: BuildOptions = {}): Promise<RebuildReport[]> {
    return await this.#maintain(options, async (live, building) => {
      const reports = await rebuild(this.#parts, live, building);
      this.#runner.resume();
      return reports;
    });
  }

  /** Compares projections and their files with a build from nothing. */
  async check(options: BuildOptions = {}): Promise<CheckReport[]> {
    return await this.#maintain(options, async (live, building) => {
      await this.#allReached(this.#parts.source.head());
      return await check(this.#parts, live, building);
    });
  }

  /**
   * Folds what is committed and closes. What is not rendered yet stays marked for the next open; `flush`
   * before it renders everything.
   */
  async close(): Promise<void> {
    const { store, renderer } = this.#parts;
    this.#closing.abort(new ProjectionError('store_closed', 'the projections are closed'));
    try {
      await this.#runner.stop();
      await renderer.stop();
      await Promise.allSettled(this.#active);
      // After a failed write the database is not what LevelDB says it is: it is not closed in order.
      if (store.failure === undefined && store.damage === undefined) await this.#settle();
    } finally {
      await store.close();
    }
  }

  async #settle(): Promise<void> {
    const { database, bootId } = this.#options;
    await this.#parts.store.settle((open) => database.settle?.(open));
    await markClean(this.#parts.store, bootId);
  }

  async #reached(live: LiveProjection, seq: number): Promise<void> {
    if (live.slot.checkpoint >= seq) return;
    if (this.#runner.failure !== undefined) throw this.#runner.failure;
    this.#runner.wake();
    await live.reached(seq);
  }

  async #allReached(seq: number): Promise<void> {
    await Promise.all(this.#parts.live.map((live) => this.#reached(live, seq)));
  }

  /** Makes rows of earlier versions anew while they are read and kept up to date. */
  async #renew(): Promise<void> {
    const stale = this.#parts.live.filter(({ isRenewing }) => isRenewing);
    if (stale.length === 0) return;
    try {
      await this.rebuild({ only: stale.map(({ projection }) => projection.name) });
    } catch (error) {
      // Where it was closed meanwhile, the next open begins again.
      this.#renewalFailure = storageError(error, 'rows of an earlier version could not be made anew');
    }
  }

  async #maintain<Result>(
    options: BuildOptions,
    task: (live: readonly LiveProjection[], building: BuildOptions) => Promise<Result>,
  ): Promise<Result> {
    const live =
      options.only === undefined ? this.#parts.live : options.only.map((name) => this.#liveOf(name));
    const signals = [this.#closing.signal, ...(options.signal ? [options.signal] : [])];
    const building = { ...options, signal: AbortSignal.any(signals) };
    return await this.#whileOpen(() =>
      this.#maintenance.run(async () => {
        building.signal.throwIfAborted();
        return await task([...new Set(live)], building);
      }),
    );
  }

  /** Keeps the database open until the task has ended. */
  async #whileOpen<Value>(task: () => Promise<Value>): Promise<Value> {
    this.#closing.signal.throwIfAborted();
    const running = task();
    this.#active.add(running);
    try {
      return await running;
    } finally {
      this.#active.delete(running);
    }
  }

  #liveOf(name: string): LiveProjection {
    const live = this.#parts.live.find(({ projection }) => projection.name === name);
    if (live !== undefined) return live;
    const names = this.#parts.live.map(({ projection }) => projection.name).join(', ');
    throw new ProjectionError('invalid_argument', `there is no projection ${name}: use ${names}`, {
      projection: name,
    });
  }
}
