import { assert } from '@turnlog/events';
import type { FileSystem } from '@turnlog/log';
import type { DatabaseHome } from './level-database.ts';
import type { EngineLimits } from './limits.ts';
import type { ProjectionNotice } from './opening.ts';
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
 * version, is folded from the beginning; reads of it wait for that, unless it can go on with the old rows. After
 * a failed write, or where damage was found, the database is opened again by itself.
 * @throws ProjectionError `store_locked`, `store_damaged` (the log lacks events that a projection has
 *   folded), `storage_full`, `store_failed`
 */
export async function openProjections(options: ProjectionsOptions): Promise<Projections> {
  const names = options.projections.map(({ name }) => name);
  assert(new Set(names).size === names.length, 'a projection has a name of its own');
  return await Projections.open(options);
}
