import { assert } from '@turnlog/events';
import type { FileSystem } from '@turnlog/log';
import { assignSlots } from './assign-slots.ts';
import type { DatabaseHome } from './level-database.ts';
import { DEFAULT_LIMITS, type EngineLimits } from './limits.ts';
import { openStore, type ProjectionNotice } from './opening.ts';
import type { Projection } from './projection.ts';
import { Projections } from './projections.ts';
import type { EngineClock, EventSource } from './source.ts';

export interface ProjectionsOptions {
  source: EventSource;
  projections: readonly Projection[];
  database: DatabaseHome;
  /** Where the files are rendered. */
  dataDirectory: string;
  fileSystem?: FileSystem;
  clock: EngineClock;
  /** Names the current run of the kernel. */
  bootId: string;
  /** Whether the data directory is new: then an empty database is no surprise. */
  isNew: boolean;
  /** Told when projections are made anew from the log, and why. */
  onNotice?: (notice: ProjectionNotice) => void;
  limits?: Partial<EngineLimits>;
}

/**
 * Opens the projections and lets them follow the log. A projection that has no rows, or rows of another
 * version, is folded from the beginning; reads of it wait for that.
 * @throws ProjectionError `store_locked`, `store_damaged` (the log lacks events that a projection has
 *   folded), `storage_full`, `store_failed`
 */
export async function openProjections(options: ProjectionsOptions): Promise<Projections> {
  const { source, projections, onNotice = () => undefined } = options;
  assert(
    new Set(projections.map(({ name }) => name)).size === projections.length,
    'a projection has a name of its own',
  );
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const head = source.head();
  const { store, catalogue } = await openStore({ ...options, head, onNotice });
  try {
    const slots = await assignSlots({ store, catalogue, projections, limits, onNotice });
    return new Projections(options, store, slots, limits, head);
  } catch (error) {
    await store.close();
    throw error;
  }
}
