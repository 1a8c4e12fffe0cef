import { encodeValue } from '@turnlog/events';
import { BufferedTables } from './buffered-tables.ts';
import { CATALOGUE_PREFIX, dirtyPrefix, filePrefix, rangeOfPrefix, SLOTS } from './physical-keys.ts';
import type { Projection } from './projection.ts';
import { checkpointOf } from './snapshot-tables.ts';
import type { TableStore, Write } from './table-store.ts';

/** One build of one projection: its rows in the store, and how far they reach. */
export class Slot {
  readonly tables: BufferedTables;
  /** The seq up to which events are folded and committed. */
  checkpoint: number;

  constructor(
    store: TableStore,
    /** One byte, the beginning of every key of this build. */
    readonly id: string,
    readonly projection: Projection,
    cacheBytesMax: number,
    /** The version of the projection that made its rows. */
    readonly version: number = projection.version,
  ) {
    this.tables = new BufferedTables(store, id, {
      cacheBytesMax,
      hasFiles: projection.fileOf !== undefined && projection.render !== undefined,
    });
    this.checkpoint = checkpointOf(store, id);
  }
}

/** What the catalogue says of a projection. */
export interface CatalogueRow {
  slot: string;
  version: number;
}

export function catalogueWrite(slot: Slot): Write {
  const row: CatalogueRow = { slot: slot.id, version: slot.version };
  return { key: CATALOGUE_PREFIX + slot.projection.name, value: encodeValue(row) };
}

/** An empty slot that none of `used` is. What a crash left there is cleared first. */
export async function takeFreeSlot(
  store: TableStore,
  used: ReadonlySet<string>,
): Promise<string | undefined> {
  const free = SLOTS.find((id) => !used.has(id));
  if (free !== undefined) await clearSlot(store, free);
  return free;
}

export async function clearSlot(store: TableStore, id: string): Promise<void> {
  await store.clear(rangeOfPrefix(id));
}

/** Every file that a build has written or has still to write. */
export async function* refsOf(store: TableStore, slot: string): AsyncGenerator<string> {
  for (const prefix of [filePrefix(slot), dirtyPrefix(slot)]) {
    for await (const [key] of store.rows(rangeOfPrefix(prefix))) yield key.slice(prefix.length);
  }
}

const MARKS_AT_ONCE = 1000;

/**
 * Marks every file of one build dirty in another, so that what the new build does not have vanishes. The
 * mark's seq is 0: any state of the new tables satisfies it.
 */
export async function carryFiles(store: TableStore, from: string, to: string): Promise<void> {
  let writes: Write[] = [];
  for await (const ref of refsOf(store, from)) {
    writes.push({ key: dirtyPrefix(to) + ref, value: encodeValue(0) });
    if (writes.length < MARKS_AT_ONCE) continue;
    await store.write(writes);
    writes = [];
  }
  if (writes.length > 0) await store.write(writes);
}
