import { ProjectionError } from '../errors.ts';
import { feed } from './feed.ts';
import type { EngineLimits } from './limits.ts';
import type { LiveProjection } from './live-projection.ts';
import type { Mutex } from './mutex.ts';
import type { RenderedFiles } from './rendered-files.ts';
import type { Renderer } from './renderer.ts';
import { clearSlot, Slot, takeFreeSlot } from './slot.ts';
import type { EventSource } from './source.ts';
import type { TableStore } from './table-store.ts';

/** What maintenance works on. */
export interface EngineParts {
  source: EventSource;
  store: TableStore;
  live: readonly LiveProjection[];
  commitLock: Mutex;
  renderer: Renderer;
  files: RenderedFiles;
  limits: EngineLimits;
}

export interface BuildProgress {
  /** The last event folded, and the last there is. */
  seq: number;
  head: number;
}

export interface BuildOptions {
  /** Names of projections; all of them unless given. */
  only?: readonly string[];
  onProgress?: (progress: BuildProgress) => void;
  signal?: AbortSignal;
}

/** A projection beside a build of it from nothing. */
export interface FreshBuild {
  live: LiveProjection;
  fresh: Slot;
}

/**
 * Runs a task with an empty slot for each projection, and clears afterwards every slot that is not the
 * projection's own: what the task built, or what it replaced. A crash before that leaves them to the sweep
 * at the next open.
 */
export async function withFreshSlots<Result>(
  parts: EngineParts,
  lives: readonly LiveProjection[],
  task: (builds: readonly FreshBuild[]) => Promise<Result>,
): Promise<Result> {
  const { store, limits } = parts;
  const taken = new Set(parts.live.map(({ slot }) => slot.id));
  const replaceable = new Set(lives.map(({ slot }) => slot.id));
  const builds: FreshBuild[] = [];
  try {
    for (const live of lives) {
      const id = await takeFreeSlot(store, taken);
      if (id === undefined) throw new ProjectionError('store_failed', 'there is no free slot to build in');
      taken.add(id);
      replaceable.add(id);
      builds.push({ live, fresh: new Slot(store, id, live.projection, limits.cacheBytesMax) });
    }
    return await task(builds);
  } finally {
    for (const live of lives) replaceable.delete(live.slot.id);
    if (store.failure === undefined) for (const id of replaceable) await clearSlot(store, id);
  }
}

/** Folds the log into fresh slots up to a seq, in one pass. */
export async function buildUntil(
  { source, store, limits }: EngineParts,
  builds: readonly FreshBuild[],
  until: number,
  { onProgress, signal }: BuildOptions,
): Promise<void> {
  signal?.throwIfAborted();
  await feed({
    source,
    store,
    slots: () => builds.map(({ fresh }) => fresh),
    until,
    limits,
    onBatch: ({ seq }) => onProgress?.({ seq, head: source.head() }),
    shouldStop: () => signal?.aborted === true,
  });
  signal?.throwIfAborted();
}
