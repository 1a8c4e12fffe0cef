import { hasRoom, nodeFileSystem, PatientRetry } from '@turnlog/log';
import { causeCodes, ProjectionError, storageError } from '../errors.ts';
import type { CheckReport } from './check.ts';
import type { Engine } from './engine.ts';
import type { BuildOptions } from './fresh-build.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { openEngine } from './open-engine.ts';
import type { ProjectionsOptions } from './open-projections.ts';
import type { TableReader } from './projection.ts';
import type { RebuildReport } from './rebuild.ts';
import type { ProjectionStatus, ReadResult } from './status.ts';

/*
 * The projections of one log for as long as they are open, and what happens when their database fails.
 *
 * From a failed write on nothing is written through that handle; reads go on from its rows and from what is
 * folded in memory. Once there is room the database is closed and opened again, and goes on from its last
 * checkpoint. Where damage was found in it, it is thrown away and made anew, for it holds nothing that the log
 * does not. Reads wait for either.
 */

/** The projections of one log: their tables to read, their files, and what keeps them true. */
export class Projections {
  readonly #options: ProjectionsOptions;
  readonly #retry: PatientRetry;
  #engine: Engine | undefined;
  /** Why the database could not be opened again. */
  #failure: ProjectionError | undefined;
  #reopening: Promise<boolean> | undefined;
  readonly #waiters = new Set<() => void>();
  #closed: Promise<void> | undefined;

  private constructor(options: ProjectionsOptions) {
    this.#options = options;
    const { fileSystem = nodeFileSystem, dataDirectory, clock } = options;
    const { reopenDelayMs, reopenDelayMsMax } = { ...DEFAULT_LIMITS, ...options.limits };
    this.#retry = new PatientRetry({
      after: (delayMs, task) => clock.after(delayMs, task),
      delayMs: reopenDelayMs,
      delayMsMax: reopenDelayMsMax,
      isWorthwhile: async () =>
        this.#engine?.damage !== undefined || (await hasRoom(fileSystem, dataDirectory)),
      attempt: () => {
        this.#reopening = this.#reopen().finally(() => {
          this.#reopening = undefined;
          this.#wakeAll();
        });
        return this.#reopening;
      },
    });
  }

  /** For `openProjections` alone. */
  static async open(options: ProjectionsOptions): Promise<Projections> {
    const projections = new Projections(options);
    projections.#engine = await projections.#openEngine(options);
    return projections;
  }

  /** Why the projections do not follow the log. It passes by itself, unless an event could not be folded. */
  get failure(): ProjectionError | undefined {
    return this.#engine === undefined ? this.#failure : this.#engine.failure;
  }

  /**
   * Reads the tables of a projection as they are at one seq, which is at least the head of the log at the
   * call: everything acknowledged before is seen. The task may be run again where the database was opened
   * anew in the middle of it; it must not read the projections itself.
   * @param atLeast a seq that the caller knows to be committed
   * @throws ProjectionError `storage_full`, `store_failed` where the projection cannot catch up,
   *   `store_closed`, `invalid_argument`
   */
  async read<Value>(
    name: string,
    task: (tables: TableReader) => Value | Promise<Value>,
    options: { atLeast?: number } = {},
  ): Promise<ReadResult<Value>> {
    return await this.#using((engine) => engine.read(name, task, options));
  }

  /** Where the database is not open, the projections have failed at seq 0. */
  async status(): Promise<ProjectionStatus[]> {
    try {
      return await this.#using((engine) => engine.status());
    } catch (error) {
      if (this.#failure === undefined) throw error;
      const { code, message } = this.#failure;
      const lag = this.#options.source.head();
      return this.#options.projections.map(({ name, version }) => ({
        ...{ name, version, seq: 0, lag, waitingFiles: 0, state: 'failed', error: { code, message } },
      }));
    }
  }

  /**
   * Waits until every file shows what was acknowledged before the call.
   * @throws ProjectionError the first file that could not be rendered, or why the projections cannot catch up
   */
  async flush(): Promise<{ seq: number }> {
    return await this.#using((engine) => engine.flush());
  }

  /**
   * Makes projections anew from the whole log, while reads go on. It also mends a projection whose rows are
   * damaged; where an event cannot be folded it fails the same way, and nothing is changed.
   */
  async rebuild(options: BuildOptions = {}): Promise<RebuildReport[]> {
    return await this.#using((engine) => engine.rebuild(options));
  }

  /** Compares projections and their files with a build from nothing. */
  async check(options: BuildOptions = {}): Promise<CheckReport[]> {
    return await this.#using((engine) => engine.check(options));
  }

  /**
   * Folds what is committed and closes. What is not rendered yet stays marked for the next open; `flush`
   * before it renders everything.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#retry.stop();
    await this.#engine?.close();
    this.#wakeAll();
  }

  /** Resolves when the database was opened anew, or could not be, or is closed. */
  #replaced(): Promise<void> {
    return new Promise((resolve) => this.#waiters.add(resolve));
  }

  #wakeAll(): void {
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }

  async #openEngine(options: ProjectionsOptions): Promise<Engine> {
    return await openEngine(options, {
      onTrouble: () => this.#retry.begin(),
      onWritten: () => this.#retry.worked(),
    });
  }

  /** Runs a task, and runs it again where the database was closed under it to be opened anew. */
  async #using<Value>(task: (engine: Engine) => Promise<Value>): Promise<Value> {
    for (let isFirst = true; ; isFirst = false) {
      // A damaged engine that is closed for good says so again for ever.
      if (!isFirst && this.#closed !== undefined) throw closedError();
      while (this.#reopening !== undefined) await this.#reopening;
      const engine = this.#engine;
      if (engine === undefined) throw this.#failure ?? closedError();
      try {
        return await task(engine);
      } catch (error) {
        const codes = causeCodes(error);
        const isDamaged = engine.damage !== undefined && codes.includes('store_damaged');
        if (isDamaged && engine === this.#engine) await this.#replaced();
        else if (!isDamaged && (engine === this.#engine || !codes.includes('store_closed'))) throw error;
      }
    }
  }

  /** Answers whether there is nothing left to try. */
  async #reopen(): Promise<boolean> {
    const { database, onNotice = () => undefined } = this.#options;
    const engine = this.#engine;
    this.#engine = undefined;
    try {
      await engine?.close();
      if (engine?.damage !== undefined) {
        const message = `the projections are made anew: ${engine.damage.message}`;
        onNotice({ reason: 'database_damaged', message });
        await database.discard();
      }
      this.#engine = await this.#openEngine({ ...this.#options, isNew: engine?.damage !== undefined });
      this.#failure = undefined;
      return true;
    } catch (error) {
      this.#failure = storageError(error, 'the projections could not be opened again');
      return this.#failure.code === 'store_damaged';
    }
  }
}

function closedError(): ProjectionError {
  return new ProjectionError('store_closed', 'the projections are closed');
}
