import { currentBootId } from './boot.ts';
import { LogError, storeErrorOf } from './errors.ts';
import { type FileSystem, nodeFileSystem, sweepTemporaryFiles, syncDirectory } from './file-system.ts';
import { DEFAULT_LIMITS, type LogLimits } from './limits.ts';
import { Log } from './log.ts';
import { type MarkerState, readMarker, writeMarker } from './marker.ts';
import { closeStore, type OpenedStore, type OpenStoreOptions, openStore } from './opened-store.ts';
import {
  findRunningOwner,
  lockedError,
  nodeProcessTable,
  type ProcessTable,
  removeOwner,
  writeOwner,
} from './owner.ts';
import { systemTimer, type Timer } from './patient-retry.ts';
import { hasRoom } from './room.ts';
import { classicStore, type Store } from './store.ts';

/*
 * Opening decides whether what is on disk may be trusted, and makes nothing new unless the marker says so.
 *
 * In order: the owner, so that a running process is left alone even where its lock was removed; the marker;
 * the log and with it the lock; the tail of the log, which is where a crash and lost writeback leave their
 * traces; the checkpoints of others, which show a tail that was lost whole; the index. A crash in between
 * leaves nothing that the next opening does not expect. What is refused stays as it is.
 */

export interface OpenLogOptions {
  /** The data directory. Its owner alone may look into it. */
  directory: string;
  /** The time in milliseconds since 1970, for the events' `at`. */
  clock: () => number;
  /** Waits between the tries to open the store again after a failed write. */
  after?: Timer;
  /** LevelDB in the directory unless said. */
  store?: Store;
  fileSystem?: FileSystem;
  processes?: ProcessTable;
  /** Names the run of the kernel; asked of the system unless said. */
  bootId?: string;
  /** How far others have read: an opening that finds less in the log is refused. */
  checkpoints?: readonly { name: string; seq: number }[];
  limits?: Partial<LogLimits>;
}

/**
 * Opens the log of a data directory, and makes it where there is none.
 * @throws TurnlogError `store_locked`, `store_damaged` with the seq in its details where there is one,
 *   `store_version_unknown`, `storage_full`, `store_failed`
 */
export async function openLog(options: OpenLogOptions): Promise<Log> {
  const { directory, clock, after = systemTimer, checkpoints = [] } = options;
  const fileSystem = options.fileSystem ?? nodeFileSystem;
  const store = options.store ?? classicStore(directory, fileSystem);
  const processes = options.processes ?? nodeProcessTable;
  const bootId = options.bootId ?? currentBootId(clock());
  const limits = { ...DEFAULT_LIMITS, ...options.limits };

  await fileSystem.mkdir(directory, { recursive: true, mode: 0o700 });
  const owner = await findRunningOwner(fileSystem, directory, processes, bootId);
  if (owner !== undefined) throw lockedError(directory, owner);
  const marker = await readOrBeginMarker(fileSystem, directory, store);
  const open = (state: MarkerState, more: Partial<OpenStoreOptions>): Promise<OpenedStore> =>
    openStore({ directory, store, bootId, limits, marker: state, checkpoints: [], ...more });
  const release = () => removeOwner(fileSystem, directory);
  let opened: OpenedStore | undefined;
  let isOwner = false;
  try {
    opened = await open(marker, {
      owner,
      checkpoints,
      async onLocked() {
        isOwner = true;
        await writeOwner(fileSystem, directory, processes, { since: clock(), bootId });
        await sweepTemporaryFiles(fileSystem, directory);
      },
    });
    if (marker === 'creating') await finishMaking(fileSystem, directory);
  } catch (error) {
    if (opened !== undefined) await closeStore(opened, false);
    if (isOwner) await release();
    throw storeErrorOf(error, 'opening the log');
  }
  const reopen = (head: number) =>
    open('ready', { checkpoints: [{ name: 'whoever was answered', seq: head }] });
  const { index, dropped } = opened;
  return new Log(
    { opened, reopen, hasRoom: () => hasRoom(fileSystem, directory), after, clock, limits, release },
    { created: marker === 'creating', indexRebuilt: index.rebuilt, dropped },
  );
}

async function readOrBeginMarker(
  fileSystem: FileSystem,
  directory: string,
  store: Store,
): Promise<MarkerState> {
  const marker = await readMarker(fileSystem, directory);
  if (marker !== undefined) return marker;
  for (const name of ['log', 'index'] as const) {
    if (await store.exists(name)) {
      throw new LogError('store_damaged', `store.json is missing, but the database ${name} is there`, {
        database: name,
      });
    }
  }
  await writeMarker(fileSystem, directory, 'creating');
  return 'creating';
}

/** The databases' own directories must be on disk before the marker vouches for them. */
async function finishMaking(fileSystem: FileSystem, directory: string): Promise<void> {
  await syncDirectory(fileSystem, directory);
  await writeMarker(fileSystem, directory, 'ready');
}
