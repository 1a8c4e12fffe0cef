import { join } from 'node:path';
import { assertRecord } from '@turnlog/events';
import { codesOf, damagedAt, isBroken, LogError, missingAt, reasonOf, storeErrorOf } from './errors.ts';
import { type LogLimits, TAIL_BYTES } from './limits.ts';
import type { MarkerState } from './marker.ts';
import { assertNotAhead, type OpenedIndex, openIndex } from './open-index.ts';
import { lockedError, type Owner } from './owner.ts';
import { isPayloadPart } from './payload-parts.ts';
import { RecordReader } from './record-reader.ts';
import { numberOf } from './seq-key.ts';
import type { Database, Store } from './store.ts';

/** The databases of a log, open, and what they hold. */
export interface OpenedStore {
  database: Database;
  reader: RecordReader;
  index: OpenedIndex;
  head: number;
  /** What LevelDB says that it left out of the log. */
  dropped: string[];
}

export interface OpenStoreOptions {
  directory: string;
  store: Store;
  bootId: string;
  limits: LogLimits;
  /** Who had the store last, to be named where it is locked. */
  owner?: Owner | undefined;
  marker: MarkerState;
  /** Called once the lock is taken, before anything is changed. */
  onLocked?: () => Promise<void>;
  /** How far others have read: an opening that finds less in the log is refused. */
  checkpoints: readonly { name: string; seq: number }[];
}

/**
 * Opens the log and then its index, and refuses what may not be trusted; see `open-log.ts`.
 * @throws TurnlogError `store_locked`, `store_damaged`, `storage_full`, `store_failed`
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  const { directory, store, bootId, limits, owner, marker, onLocked, checkpoints } = options;
  const database = await openDatabase(directory, store, marker, owner);
  try {
    await onLocked?.();
    const reader = new RecordReader(database);
    const head = await scanTail(reader);
    if (marker === 'creating' && head > 0) throw damagedAt(1, 'a store in the making holds events');
    for (const { name, seq } of checkpoints) assertNotAhead(name, seq, head);
    const dropped = await store.dropped('log');
    const index = await openIndex({ store, reader, head, bootId, limits });
    return { database, reader, index, head, dropped };
  } catch (error) {
    await database.close();
    if (codesOf(error).includes('LEVEL_LOCKED')) throw lockedError(directory, owner);
    throw storeErrorOf(error, 'opening the log');
  }
}

/** @param inOrder whether everything that was taken was written, so that the index may be marked as whole */
export async function closeStore({ database, index }: OpenedStore, inOrder: boolean): Promise<void> {
  try {
    if (inOrder) await index.close();
    else await index.abandon();
  } finally {
    await database.close();
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
