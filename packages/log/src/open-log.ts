import { join } from 'node:path';
import { assertRecord } from '@turnlog/events';
import { currentBootId } from './boot.ts';
import { codesOf, damagedAt, LogError, missingAt, reasonOf, storeErrorOf } from './errors.ts';
import { type FileSystem, nodeFileSystem, sweepTemporaryFiles, syncDirectory } from './file-system.ts';
import { DEFAULT_LIMITS, type LogLimits, TAIL_BYTES } from './limits.ts';
import { Log } from './log.ts';
import { type MarkerState, readMarker, writeMarker } from './marker.ts';
import { assertNotAhead, openIndex } from './open-index.ts';
import {
  findRunningOwner,
  lockedError,
  nodeProcessTable,
  type Owner,
  type ProcessTable,
  removeOwner,
  writeOwner,
} from './owner.ts';
import { isPayloadPart } from './payload-parts.ts';
import { RecordReader } from './record-reader.ts';
import { numberOf } from './seq-key.ts';
import { classicStore, type Database, type Store } from './store.ts';

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
  const { directory, clock } = options;
  const fileSystem = options.fileSystem ?? nodeFileSystem;
  const store = options.store ?? classicStore(directory, fileSystem);
  const processes = options.processes ?? nodeProcessTable;
  const bootId = options.bootId ?? currentBootId(clock());
  const limits = { ...DEFAULT_LIMITS, ...options.limits };

  await fileSystem.mkdir(directory, { recursive: true, mode: 0o700 });
  const owner = await findRunningOwner(fileSystem, directory, processes, bootId);
  if (owner !== undefined && owner.pid !== processes.pid) throw lockedError(directory, owner);
  const marker = await readOrBeginMarker(fileSystem, directory, store);
  const database = await openDatabase(directory, store, marker, owner);
  try {
    await writeOwner(fileSystem, directory, processes, { since: clock(), bootId });
    await sweepTemporaryFiles(fileSystem, directory);
    const reader = new RecordReader(database);
    const head = await scanTail(reader);
    if (marker === 'creating' && head > 0) throw damagedAt(1, 'a store in the making holds events');
    for (const { name, seq } of options.checkpoints ?? []) assertNotAhead(name, seq, head);
    const dropped = await store.dropped('log');
    const index = await openIndex({ store, reader, head, bootId, limits });
    const release = () => removeOwner(fileSystem, directory);
    const log = new Log(
      { database, index, reader, head, clock, limits, release },
      { created: marker === 'creating', indexRebuilt: index.rebuilt, dropped },
    );
    if (marker === 'creating') await finishMaking(fileSystem, directory, log);
    return log;
  } catch (error) {
    await database.close();
    await removeOwner(fileSystem, directory);
    if (codesOf(error).includes('LEVEL_LOCKED')) throw lockedError(directory, owner);
    throw storeErrorOf(error, 'opening the log');
  }
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
async function finishMaking(fileSystem: FileSystem, directory: string, log: Log): Promise<void> {
  try {
    await syncDirectory(fileSystem, directory);
    await writeMarker(fileSystem, directory, 'ready');
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function openDatabase(
  directory: string,
  store: Store,
  marker: MarkerState,
  owner: Owner | undefined,
): Promise<Database> {
  try {
    return await store.open('log', marker === 'creating' ? 'create' : 'existing');
  } catch (error) {
    if (codesOf(error).includes('LEVEL_LOCKED')) throw lockedError(directory, owner);
    if (isBroken(error)) {
      const path = join(directory, 'log');
      throw new LogError(
        'store_damaged',
        `${path} cannot be opened (${reasonOf(error)})`,
        { path },
        { cause: error },
      );
    }
    throw storeErrorOf(error, 'opening the log');
  }
}

const BROKEN = /Corruption|does not exist|No such file|not found/iu;

function isBroken(error: unknown): boolean {
  return codesOf(error).includes('LEVEL_CORRUPTION') || BROKEN.test(reasonOf(error));
}

/**
 * Checks the last records, as many as LevelDB may have held in memory, and that the log begins at 1.
 * @returns the head
 */
async function scanTail(reader: RecordReader): Promise<number> {
  const head = await reader.lastSeq();
  if (head === undefined) return 0;
  let expected = head;
  let bytes = 0;
  for await (const rows of reader.rows({ from: 1, to: head, reverse: true })) {
    for (const [key, value] of rows) {
      if (numberOf(key) !== expected) throw missingAt(expected);
      assertRecord(expected, value);
      expected -= 1;
      bytes += value.length;
    }
    if (bytes >= TAIL_BYTES) break;
  }
  if (bytes < TAIL_BYTES && expected > 0) throw missingAt(expected);
  // A part is never the last: its event was in the same batch.
  if (isPayloadPart(await reader.one(head))) throw missingAt(head + 1);
  await reader.one(1);
  return head;
}
