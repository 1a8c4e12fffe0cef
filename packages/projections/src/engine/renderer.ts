import { assert } from '@turnlog/events';
import type { AbstractSnapshot } from 'abstract-level';
import { type ProjectionError, storageError } from '../errors.ts';
import { clearMarks, markedRefs, type Shown } from './dirty-marks.ts';
import { HeldFiles } from './held-files.ts';
import type { EngineLimits } from './limits.ts';
import type { LiveProjection } from './live-projection.ts';
import { Mutex } from './mutex.ts';
import { dirtyPrefix } from './physical-keys.ts';
import type { Projection } from './projection.ts';
import type { RenderedFiles } from './rendered-files.ts';
import type { Slot } from './slot.ts';
import { SnapshotTables } from './snapshot-tables.ts';
import type { EngineClock } from './source.ts';
import type { TableStore } from './table-store.ts';

export interface RendererOptions {
  store: TableStore;
  live: readonly LiveProjection[];
  commitLock: Mutex;
  files: RenderedFiles;
  clock: EngineClock;
  limits: EngineLimits;
}

interface MarksToRender {
  render(refs: string[]): Promise<ProjectionError | undefined>;
  snapshot?: AbstractSnapshot;
  isDue?(ref: string): boolean;
  /** Ends it early. */
  isEnough?(): boolean;
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
  /** By projection: why its marks could not be read or taken away. */
  readonly #errors = new Map<string, ProjectionError>();
  readonly #held = new Map<string, HeldFiles>();
  #passing: Promise<void> | undefined;
  #noticed = false;
  #cancelRetry: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #stopped = false;

  constructor(options: RendererOptions) {
    this.#options = options;
  }

  /** Why a file of the projection could not be rendered; gone once all its marks were. */
  errorOf(projection: string): ProjectionError | undefined {
    return this.#errors.get(projection) ?? this.#held.get(projection)?.error;
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
      errors.push(...(await this.#renderMarks(slot, { render })));
    }
    if (errors[0] !== undefined) throw errors[0];
  }

  /**
   * Renders every mark of a projection as a snapshot has it. The caller holds the lock.
   * @throws ProjectionError the first failure
   */
  async renderSnapshot(live: LiveProjection, snapshot: AbstractSnapshot): Promise<void> {
    const { slot } = live;
    const render = (refs: string[]) => this.#render(live, slot, refs, snapshot);
    const errors = await this.#renderMarks(slot, { render, snapshot });
    if (errors[0] !== undefined) throw errors[0];
  }

  /** Ends once the files under way are written. Marks that are left stay for the next open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    this.#endPause?.();
    await this.#passing;
    await this.lock.run(async () => undefined);
  }

  async #pass(): Promise<void> {
    const { live, limits } = this.#options;
    while (this.#noticed && !this.#stopped) {
      this.#noticed = false;
      await this.#pause(limits.renderDelayMs);
      for (const each of live) if (each.built) await this.#passOver(each);
      this.#retryHeld();
    }
  }

  /** Renders the marks of one projection at leisure, without the files that are not due yet. */
  async #passOver(live: LiveProjection): Promise<void> {
    const { clock, limits } = this.#options;
    const { slot } = live;
    const held = this.#heldOf(slot.projection);
    const isDue = (ref: string) => held.isDue(ref, clock.now());
    const render = async (refs: string[]) => {
      const startedAt = clock.now();
      const error = await this.lock.run(() => this.#render(live, slot, refs));
      // A clock that was set back must not stop the rendering, nor one set forward.
      const tookMs = Math.min(Math.max(clock.now() - startedAt, 0), 60_000);
      await this.#pause(limits.renderPauseFactor * tookMs);
      return error;
    };
    const isEnough = () => held.isFull;
    await this.#renderMarks(slot, { render, isDue, isEnough });
  }

  /** Comes back when the first of the files that failed is due, or what failed without a file may have passed. */
  #retryHeld(): void {
    const { clock, limits } = this.#options;
    const now = clock.now();
    let delayMs = this.#errors.size > 0 ? limits.renderRetryMsMax : Number.POSITIVE_INFINITY;
    for (const { nextDueAt } of this.#held.values())
      delayMs = Math.min(delayMs, Math.max(nextDueAt - now, 1));
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    if (delayMs === Number.POSITIVE_INFINITY || this.#stopped) return;
    this.#cancelRetry = clock.after(delayMs, () => {
      this.#cancelRetry = undefined;
      this.notice();
    });
  }

  #heldOf({ name }: Projection): HeldFiles {
    const held = this.#held.get(name) ?? new HeldFiles(this.#options.limits);
    this.#held.set(name, held);
    return held;
  }

  /** Hands the marks to `render`, some at once. */
  async #renderMarks(
    slot: Slot,
    { render, snapshot, isDue = () => true, isEnough = () => false }: MarksToRender,
  ): Promise<ProjectionError[]> {
    const { store, limits } = this.#options;
    const { name } = slot.projection;
    const errors: ProjectionError[] = [];
    try {
      for await (const refs of markedRefs(store, slot.id, {
        isDue,
        snapshot,
        atOnceMax: limits.renderFilesMax,
      })) {
        if (this.#stopped || isEnough()) return errors;
        const error = await render(refs);
        if (error !== undefined) errors.push(error);
      }
      this.#errors.delete(name);
    } catch (error) {
      const failure = storageError(error, 'the marks of files could not be read or taken away');
      this.#errors.set(name, failure);
      errors.push(failure);
    }
    return errors;
  }

  async #render(
    live: LiveProjection,
    slot: Slot,
    refs: readonly string[],
    given?: AbstractSnapshot,
  ): Promise<ProjectionError | undefined> {
    const { store, commitLock, clock, limits } = this.#options;
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
            this.#heldOf(slot.projection).rendered(ref);
          } catch (error) {
            const failure = storageError(error, 'a file could not be rendered');
            this.#heldOf(slot.projection).failed(ref, failure, clock.now());
            first ??= failure;
          }
        }
      };
      // A disk takes several files to be synced at once in little more than the time of one.
      await Promise.all(Array.from({ length: limits.renderFilesAtOnce }, showWaiting));
      const { seq } = tables;
      await commitLock.run(() => clearMarks(store, slot.id, shown, seq));
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
