import type { TurnlogError } from '@turnlog/events';
import { codesOf, isBroken, LogError, storeErrorOf } from './errors.ts';
import { CHECKPOINT_KEY, entryOf, MARK_KEY, nameBytes, numberInRow, rowsOf } from './index-rows.ts';
import type { LogLimits } from './limits.ts';
import type { RecordReader } from './record-reader.ts';
import { type Database, putRows, type Store } from './store.ts';
import { StreamIndex } from './stream-index.ts';

/*
 * Opening and closing the index, which is written unsynced.
 *
 * What LevelDB says that it left out when it opened it is gone from anywhere among its rows, so then it is made
 * anew. Its mark, written synced, says under which boot of the kernel it is open, or that it was closed in order.
 * A killed process loses nothing that the kernel has, so under the same boot it is caught up from its
 * checkpoint. Another boot without a closing mark may have lost any row of it: then it is made anew. A
 * checkpoint beyond the log's head is looked at first, for it proves that the log lost what it had.
 */

const INDEX_VERSION = 2;

interface IndexMark {
  version: number;
  bootId: string;
  closed: boolean;
}

export interface OpenedIndex {
  index: StreamIndex;
  /** Whether it was made anew from the log. */
  rebuilt: boolean;
  /** Marks it as closed in order and closes it. Nothing may be committed any more. */
  close(): Promise<void>;
  /** Closes it without the mark, as after a failure. */
  abandon(): Promise<void>;
}

export interface OpenIndexParts {
  store: Store;
  reader: RecordReader;
  head: number;
  bootId: string;
  limits: LogLimits;
}

/** @throws TurnlogError `store_damaged` where the index knows events that the log does not have */
export async function openIndex(parts: OpenIndexParts): Promise<OpenedIndex> {
  const { store, reader, head, bootId, limits } = parts;
  let database = await openOrRemove(store);
  let rebuilt = false;
  try {
    const found = await stateOf(database, store, bootId);
    assertNotAhead('the index', found.checkpoint, head);
    if (!found.isSound) {
      rebuilt = head > 0;
      await database.close();
      await store.destroy('index');
      database = await store.open('index', 'create');
    }
    const checkpoint = found.isSound ? found.checkpoint : 0;
    await writeMark(database, { version: INDEX_VERSION, bootId, closed: false });
    await catchUp(database, reader, checkpoint, head);
  } catch (error) {
    await database.close();
    throw storeErrorOf(error, 'opening the index');
  }
  const index = new StreamIndex(database, limits, head);
  return {
    index,
    rebuilt,
    async close() {
      await index.settled();
      const isWhole = !index.isDamaged;
      if (isWhole) await writeMark(database, { version: INDEX_VERSION, bootId, closed: true });
      await database.close();
      if (!isWhole) await store.destroy('index');
    },
    async abandon() {
      await index.settled();
      await database.close();
      if (index.isDamaged) await store.destroy('index');
    },
  };
}

/** @throws LogError `store_damaged`: events that were acknowledged are missing */
export function assertNotAhead(name: string, checkpoint: number, head: number): void {
  if (checkpoint <= head) return;
  throw new LogError(
    'store_damaged',
    `${name} has seen event ${checkpoint}, but the log ends at ${head}: acknowledged events are missing`,
    { name, checkpoint, head, seq: head + 1 },
  );
}

/** What LevelDB cannot open is taken away, as long as trying again is not what helps. */
async function openOrRemove(store: Store): Promise<Database> {
  const mode = (await store.exists('index')) ? 'existing' : 'create';
  try {
    return await store.open('index', mode);
  } catch (error) {
    const mayBeRemoved =
      !codesOf(error).includes('LEVEL_LOCKED') && isDamage(storeErrorOf(error, 'opening the index'));
    if (!mayBeRemoved) throw error;
    await store.destroy('index');
    return await store.open('index', 'create');
  }
}

const OUT_OF_REACH = /Permission denied|Too many open files|Read-only file system/iu;

function isDamage(error: TurnlogError): boolean {
  return error.code !== 'storage_full' && !OUT_OF_REACH.test(error.message);
}

/** How far the rows reach, and whether they may be relied upon. What cannot be read may not. */
async function stateOf(
  database: Database,
  store: Store,
  bootId: string,
): Promise<{ checkpoint: number; isSound: boolean }> {
  try {
    const value = await database.get(CHECKPOINT_KEY);
    const checkpoint = value === undefined ? 0 : numberInRow(CHECKPOINT_KEY, value);
    const mark = await markOf(database);
    const isWhole = checkpoint !== undefined && (await store.dropped('index')).length === 0;
    const isKept = mark?.version === INDEX_VERSION && (mark.closed || mark.bootId === bootId);
    return { checkpoint: checkpoint ?? 0, isSound: isWhole && isKept };
  } catch (error) {
    if (!isBroken(error)) throw error;
    return { checkpoint: 0, isSound: false };
  }
}

async function markOf(database: Database): Promise<IndexMark | undefined> {
  const value = await database.get(MARK_KEY);
  if (value === undefined) return undefined;
  try {
    return JSON.parse(value.toString('utf8')) as IndexMark;
  } catch {
    // An unreadable mark vouches for nothing.
    return undefined;
  }
}

async function writeMark(database: Database, mark: IndexMark): Promise<void> {
  await putRows(database, [[MARK_KEY, Buffer.from(JSON.stringify(mark))]], { synced: true });
}

async function catchUp(
  database: Database,
  reader: RecordReader,
  checkpoint: number,
  head: number,
): Promise<void> {
  for await (const page of reader.pages({ from: checkpoint + 1, to: head })) {
    await putRows(database, rowsOf(page.map(entryOf), nameBytes), { synced: false });
  }
}
