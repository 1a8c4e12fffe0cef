import { assert, encodeValue } from '@turnlog/events';
import type { AbstractSnapshot } from 'abstract-level';
import { type ProjectionError, storageError } from '../errors.ts';
import type { EngineLimits } from './limits.ts';
import type { LiveProjection } from './live-projection.ts';
import { Mutex } from './mutex.ts';
import { dirtyPrefix, filePrefix, rangeOfPrefix } from './physical-keys.ts';
import type { Projection } from './projection.ts';
import type { RenderedFiles } from './rendered-files.ts';
import type { Slot } from './slot.ts';
import { SnapshotTables } from './snapshot-tables.ts';
import type { EngineClock } from './source.ts';
import type { TableStore, Write } from './table-store.ts';

export interface RendererOptions {
  store: TableStore;
  live: readonly LiveProjection[];
  commitLock: Mutex;
  files: RenderedFiles;
  clock: EngineClock;
  limits: EngineLimits;
}

/** A file that was written, or taken away. */
interface Shown {
  ref: string;
  exists: boolean;
}

/**
 * Renders files from the tables, away from the commit path and for at most a tenth of the time. A file is
 * safe on the disk before its mark goes, and the mark goes only where it is not newer than what was
 * rendered: after a crash a file is as it was or as it should be, and what may be old is still marked.
 */
export class Renderer {
  /** Held while files are written, and by whoever needs them to stay. Never asked for under the commit lock. */
  readonly lock = new Mutex();
  readonly #options: RendererOptions;
  readonly #errors = new Map<string, ProjectionError>();
  #passing: Promise<void> | undefined;
  #noticed = false;
  #passesFailed = 0;
  #endPause: (() => void) | undefined;
  #stopped = false;

  constructor(options: RendererOptions) {
    this.#options = options;
  }

  /** Why a file of the projection could not be rendered; gone once all its marks were. */
  errorOf(projection: string): ProjectionError | undefined {
    return this.#errors.get(projection);
  }

  /** Says that there may be marks. */
  notice(): void {
    this.#noticed = true;
    if (this.#passing !== undefined || this.#stopped) return;
    this.#passing = this.#pass().finally(() => {
      this.#passing = undefined;
      if (this.#noticed) this.notice();
    });
  }

  /**
   * Renders every mark there is, without a pause.
   * @throws ProjectionError the first failure, once everything else is rendered
   */
  async flush(): Promise<void> {
    const errors: ProjectionError[] = [];
    for (const live of this.#options.live) {
      const { slot } = live;
      const render = (refs: string[]) => this.lock.run(() => this.#render(live, slot, refs));
      errors.push(...(await this.#renderMarks(slot, render)));
    }
    if (errors[0] !== undefined) throw errors[0];
  }

  /**
   * Renders every mark of a projection as a snapshot has it. The caller holds the lock.
   * @throws ProjectionError the first failure
   */
  async renderSnapshot(live: LiveProjection, snapshot: AbstractSnapshot): Promise<void> {
    const { slot } = live;
    const errors = await this.#renderMarks(
      slot,
      (refs) => this.#render(live, slot, refs, snapshot),
      snapshot,
    );
    if (errors[0] !== undefined) throw errors[0];
  }

  /** Ends once the files under way are written. Marks that are left stay for the next open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endPause?.();
    await this.#passing;
    await this.lock.run(async () => undefined);
  }

  async #pass(): Promise<void> {
    const { live, limits } = this.#options;
    while (this.#noticed && !this.#stopped) {
      this.#noticed = false;
      await this.#pause(limits.renderDelayMs);
      let failed = false;
      for (const each of live) {
        if (each.built && !(await this.#passOver(each))) failed = true;
      }
      this.#passesFailed = failed ? this.#passesFailed + 1 : 0;
      if (!failed) continue;
      this.#noticed = true;
      await this.#pause(
        Math.min(limits.renderRetryMs * 2 ** (this.#passesFailed - 1), limits.renderRetryMsMax),
      );
    }
  }

  /** Renders the marks of one projection at leisure. Answers whether all went well. */
  async #passOver(live: LiveProjection): Promise<boolean> {
    const { clock, limits } = this.#options;
    const { slot } = live;
    const errors = await this.#renderMarks(slot, async (refs) => {
      const startedAt = clock.now();
      const error = await this.lock.run(() => this.#render(live, slot, refs));
      // A clock that was set back must not stop the rendering, nor one set forward.
      const tookMs = Math.min(Math.max(clock.now() - startedAt, 0), 60_000);
      await this.#pause(limits.renderPauseFactor * tookMs);
      return error;
    });
    return errors.length === 0;
  }

  /** Hands every mark to `render`, some at once. */
  async #renderMarks(
    slot: Slot,
    render: (refs: string[]) => Promise<ProjectionError | undefined>,
    snapshot?: AbstractSnapshot,
  ): Promise<ProjectionError[]> {
    const errors: ProjectionError[] = [];
    try {
      for await (const refs of this.#markedRefs(slot, snapshot)) {
        if (this.#stopped) return errors;
        const error = await render(refs);
        if (error !== undefined) errors.push(error);
      }
    } catch (error) {
      errors.push(storageError(error, 'the marks of files could not be read or taken away'));
    }
    const [first] = errors;
    if (first === undefined) this.#errors.delete(slot.projection.name);
    else this.#errors.set(slot.projection.name, first);
    return errors;
  }

  async *#markedRefs(slot: Slot, snapshot?: AbstractSnapshot): AsyncGenerator<string[]> {
    const prefix = dirtyPrefix(slot.id);
    let refs: string[] = [];
    for await (const [key] of this.#options.store.rows(rangeOfPrefix(prefix), snapshot)) {
      refs.push(key.slice(prefix.length));
      if (refs.length < this.#options.limits.renderFilesMax) continue;
      yield refs;
      refs = [];
    }
    if (refs.length > 0) yield refs;
  }

  async #render(
    live: LiveProjection,
    slot: Slot,
    refs: readonly string[],
    given?: AbstractSnapshot,
  ): Promise<ProjectionError | undefined> {
    const { store, commitLock, limits } = this.#options;
    // A build that was replaced is not shown any more: its successor has marks of its own.
    if (live.slot !== slot || this.#stopped) return undefined;
    const snapshot = given ?? store.snapshot();
    const shown: Shown[] = [];
    let first: ProjectionError | undefined;
    try {
      const tables = new SnapshotTables(store, slot.id, snapshot);
      const waiting = refs.values();
      const showWaiting = async () => {
        for (const ref of waiting) {
          try {
            if (store.get(dirtyPrefix(slot.id) + ref, snapshot) === undefined) continue;
            shown.push({ ref, exists: await this.#show(slot.projection, tables, ref) });
          } catch (error) {
            first ??= storageError(error, 'a file could not be rendered');
          }
        }
      };
      // A disk takes several files to be synced at once in little more than the time of one.
      await Promise.all(Array.from({ length: limits.renderFilesAtOnce }, showWaiting));
      const { seq } = tables;
      await commitLock.run(() => this.#clearMarks(slot, shown, seq));
    } finally {
      if (given === undefined) await snapshot.close();
    }
    return first;
  }

  /** Answers whether there is such a file now. */
  async #show(projection: Projection, tables: SnapshotTables, ref: string): Promise<boolean> {
    const { name } = projection;
    let file: string | undefined;
    try {
      assert(projection.fileOf && projection.render, `${name} renders the files it marks`);
      file = projection.fileOf(ref);
      const content = await projection.render(tables, ref);
      await this.#options.files.show(file, content);
      return content !== undefined;
    } catch (error) {
      throw storageError(error, `a file of ${name} could not be rendered`, { projection: name, file });
    }
  }

  async #clearMarks(slot: Slot, shown: readonly Shown[], seq: number): Promise<void> {
    const { store } = this.#options;
    const writes: Write[] = [];
    for (const { ref, exists } of shown) {
      const file = filePrefix(slot.id) + ref;
      writes.push(exists ? { key: file, value: encodeValue(true) } : { key: file });
      const mark = dirtyPrefix(slot.id) + ref;
      const markedAt = store.getValue<number>(mark);
      if (markedAt !== undefined && markedAt <= seq) writes.push({ key: mark });
    }
    if (writes.length > 0) await store.write(writes);
  }

  async #pause(milliseconds: number): Promise<void> {
    if (this.#stopped || milliseconds <= 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(milliseconds, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
    this.#endPause = undefined;
  }
}
