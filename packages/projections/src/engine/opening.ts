import { assert, encodeValue, TurnlogError } from '@turnlog/events';
import { causeCodes, describeError, ProjectionError, storageError } from '../errors.ts';
import type { DatabaseHome } from './level-database.ts';
import { CATALOGUE_PREFIX, META_KEY, rangeOfPrefix, SLOTS } from './physical-keys.ts';
import type { CatalogueRow } from './slot.ts';
import { checkpointOf } from './snapshot-tables.ts';
import { type ProjectionDatabase, TableStore } from './table-store.ts';

/*
 * The database of the projections is written unsynced. A killed process loses nothing that LevelDB had
 * answered; a lost power supply may take any of it, even earlier rows of a checkpoint that is still there.
 * So the database says in which run of the kernel it is open and whether it was closed in order, both
 * synced. One that was not closed in order, in another run than this, is thrown away and made anew: it
 * holds nothing that the log does not. The same goes for one that LevelDB cannot read, or of which it says
 * that it left something out, which may have been any rows.
 */

const FORMAT = 2;

interface Meta {
  format: number;
  bootId: string;
  clean: boolean;
}

/** Why a projection is made anew from the log. */
export interface ProjectionNotice {
  reason:
    | 'database_missing'
    | 'database_unreadable'
    | 'database_damaged'
    | 'database_unclean'
    | 'version_changed';
  message: string;
}

export interface OpenStoreOptions {
  database: DatabaseHome;
  /** The head of the log. */
  head: number;
  /** Names the current run of the kernel. */
  bootId: string;
  /** Whether the whole data directory is new, so that a missing database is no surprise. */
  isNew: boolean;
  onNotice: (notice: ProjectionNotice) => void;
}

export interface OpenedStore {
  store: TableStore;
  catalogue: Map<string, CatalogueRow>;
}

/**
 * @throws ProjectionError `store_locked`; `store_damaged` where the projections know of events that the log
 *   does not have; `storage_full`, `store_failed`
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  const { database, bootId, isNew, onNotice } = options;
  const { opened, discarded } = await openOrDiscard(options);
  let store = new TableStore(opened);
  try {
    const found = await readState(store);
    if (found !== 'unreadable') assertNotAhead(store, found.catalogue, options.head);
    const doubt = doubtOf(found, bootId, (await database.dropped?.()) ?? []);
    if (doubt === undefined && found !== 'unreadable') {
      await store.write([metaWrite({ format: FORMAT, bootId, clean: false })], { sync: true });
      return { store, catalogue: found.catalogue };
    }
    const expected = doubt?.reason === 'database_missing' && (isNew || discarded);
    if (doubt !== undefined && !expected) onNotice(doubt);
    await store.close();
    await database.discard();
    store = new TableStore(await database.open());
    await store.write([metaWrite({ format: FORMAT, bootId, clean: false })], { sync: true });
    return { store, catalogue: new Map() };
  } catch (error) {
    await store.close();
    throw error instanceof TurnlogError ? error : storageError(error, 'the projections could not be opened');
  }
}

/** Says that everything was written in order. After this nothing may be written. */
export async function markClean(store: TableStore, bootId: string): Promise<void> {
  await store.write([metaWrite({ format: FORMAT, bootId, clean: true })], { sync: true });
}

/** Answers also whether it was said already that everything is made anew. */
async function openOrDiscard({
  database,
  onNotice,
}: OpenStoreOptions): Promise<{ opened: ProjectionDatabase; discarded: boolean }> {
  try {
    return { opened: await database.open(), discarded: false };
  } catch (error) {
    if (causeCodes(error).includes('LEVEL_LOCKED')) {
      const message = 'another process has the projections open';
      throw new ProjectionError('store_locked', message, undefined, { cause: error });
    }
    if (!isDamage(error)) throw storageError(error, 'the projections could not be opened');
    onNotice({
      reason: 'database_unreadable',
      message: `the projections are made anew: their database cannot be opened (${describeError(error)})`,
    });
  }
  await database.discard();
  return { opened: await database.open(), discarded: true };
}

/** Whether LevelDB misses or cannot read its own files, rather than being refused by the system. */
function isDamage(error: unknown): boolean {
  const missing = /: No such file or directory|does not exist \(create_if_missing is false\)/u;
  return causeCodes(error).includes('LEVEL_CORRUPTION') || missing.test(describeError(error));
}

interface FoundState {
  meta: Meta | undefined;
  catalogue: Map<string, CatalogueRow>;
}

async function readState(store: TableStore): Promise<FoundState | 'unreadable'> {
  try {
    const meta = store.getValue<Meta>(META_KEY);
    const catalogue = new Map<string, CatalogueRow>();
    for await (const [key] of store.rows(rangeOfPrefix(CATALOGUE_PREFIX))) {
      const row = store.getValue<CatalogueRow>(key);
      assert(row && SLOTS.includes(row.slot), 'a catalogue row names a slot');
      catalogue.set(key.slice(CATALOGUE_PREFIX.length), row);
    }
    for (const { slot } of catalogue.values()) checkpointOf(store, slot);
    return { meta, catalogue };
  } catch (error) {
    // A full disk or a fault of the system says nothing about what is stored.
    if (error instanceof TurnlogError && (error.code === 'store_failed' || error.code === 'storage_full'))
      throw error;
    return 'unreadable';
  }
}

/** Checkpoints only ever follow synced commits: one ahead of the log means that the log has lost events. */
function assertNotAhead(store: TableStore, catalogue: FoundState['catalogue'], head: number): void {
  for (const [projection, { slot }] of catalogue) {
    const checkpoint = checkpointOf(store, slot);
    if (checkpoint <= head) continue;
    throw new ProjectionError(
      'store_damaged',
      `acknowledged events are missing: the log ends at ${head}, but ${projection} has folded events up to ${checkpoint}`,
      { projection, checkpoint, head },
    );
  }
}

function doubtOf(
  found: FoundState | 'unreadable',
  bootId: string,
  dropped: readonly string[],
): ProjectionNotice | undefined {
  if (dropped.length > 0) {
    return {
      reason: 'database_damaged',
      message: `the projections are made anew: LevelDB left out rows that it could not read (${dropped[0]})`,
    };
  }
  if (found === 'unreadable') {
    return {
      reason: 'database_unreadable',
      message: 'the projections are made anew: their database is damaged',
    };
  }
  const { meta } = found;
  if (meta === undefined) {
    return {
      reason: 'database_missing',
      message: 'the projections are made anew: their database was not there',
    };
  }
  if (meta.format !== FORMAT) {
    return { reason: 'database_unreadable', message: `the projections are made anew: format ${meta.format}` };
  }
  if (!meta.clean && meta.bootId !== bootId) {
    return {
      reason: 'database_unclean',
      message: 'the projections are made anew: the system stopped before their database was closed',
    };
  }
  return undefined;
}

function metaWrite(meta: Meta): { key: string; value: Buffer } {
  return { key: META_KEY, value: encodeValue(meta) };
}
