import type { ProjectionError } from '../errors.ts';
import type { EngineParts } from './fresh-build.ts';
import type { LiveProjection } from './live-projection.ts';
import { dirtyPrefix, rangeOfPrefix } from './physical-keys.ts';

export interface ProjectionStatus {
  name: string;
  /** The version of its rows; an earlier one than the code's where they are being made anew. */
  version: number;
  /** The last event in its rows. */
  seq: number;
  /** How many events it is behind the log. */
  lag: number;
  /** Files that do not show yet what the tables hold. */
  waitingFiles: number;
  /**
   * `building`: not yet at what the log held at open; reads wait. `renewing`: rows of an earlier version are
   * read and kept up to date while others are made beside them. `failed`: it does not follow any more.
   */
  state: 'building' | 'renewing' | 'live' | 'failed';
  /** Why it failed, or why a file could not be rendered. */
  error?: { code: string; message: string };
}

export interface ReadResult<Value> {
  value: Value;
  /** The last event in the rows that were read. */
  seq: number;
}

/**
 * @param failure why it does not follow the log
 * @param renewalFailure why rows of an earlier version could not be made anew
 */
export async function statusOf(
  { store, source, renderer }: EngineParts,
  live: LiveProjection,
  failure: ProjectionError | undefined,
  renewalFailure: ProjectionError | undefined,
): Promise<ProjectionStatus> {
  const { slot, projection, built, isRenewing } = live;
  let waitingFiles = 0;
  for await (const _ of store.storedRows(rangeOfPrefix(dirtyPrefix(slot.id)))) waitingFiles += 1;
  const error = failure ?? (isRenewing ? renewalFailure : undefined) ?? renderer.errorOf(projection.name);
  const following = !built ? 'building' : isRenewing ? 'renewing' : 'live';
  return {
    name: projection.name,
    version: slot.version,
    seq: slot.checkpoint,
    lag: Math.max(source.head() - slot.checkpoint, 0),
    waitingFiles,
    state: failure === undefined ? following : 'failed',
    ...(error && { error: { code: error.code, message: error.message } }),
  };
}
