import { assert } from '@turnlog/events';
import type { EngineLimits } from './limits.ts';
import type { ProjectionNotice } from './opening.ts';
import { CATALOGUE_PREFIX, rangeOfPrefix, SLOTS } from './physical-keys.ts';
import type { Projection } from './projection.ts';
import { type CatalogueRow, carryFiles, catalogueWrite, clearSlot, Slot, takeFreeSlot } from './slot.ts';
import type { TableStore } from './table-store.ts';

export interface AssignSlotsOptions {
  store: TableStore;
  catalogue: ReadonlyMap<string, CatalogueRow>;
  projections: readonly Projection[];
  limits: EngineLimits;
  onNotice: (notice: ProjectionNotice) => void;
}

/**
 * Gives every projection its slot. Rows of another version that the projection can go on with stay where they
 * are, to be made anew beside them. Else it gets an empty slot, into which the files of the old rows are
 * carried as marks before the catalogue names it: a crash leaves the old slot in its place or the new one, and
 * the other is swept here at the next open. The old rows are not read in the meantime, for the code that could
 * keep them up to date is gone: reads wait until the new ones are made.
 */
export async function assignSlots(options: AssignSlotsOptions): Promise<Slot[]> {
  const { store, catalogue, projections, limits, onNotice } = options;
  const used = new Set([...catalogue.values()].map(({ slot }) => slot));
  const slots: Slot[] = [];
  for (const projection of projections) {
    const row = catalogue.get(projection.name);
    const { version, readableVersions = [] } = projection;
    if (row !== undefined && row.version !== version) {
      const message = `${projection.name} is made anew: version ${version} follows ${row.version}`;
      onNotice({ reason: 'version_changed', message });
    }
    if (row !== undefined && [version, ...readableVersions].includes(row.version)) {
      slots.push(new Slot(store, row.slot, projection, limits.cacheBytesMax, row.version));
      continue;
    }
    const id = await takeFreeSlot(store, used);
    assert(id !== undefined, 'there are more slots than projections');
    used.add(id);
    if (row !== undefined) await carryFiles(store, row.slot, id);
    const slot = new Slot(store, id, projection, limits.cacheBytesMax);
    await store.write([catalogueWrite(slot)]);
    slots.push(slot);
  }
  await forgetOthers(store, catalogue, projections);
  await sweepSlots(store, new Set(slots.map(({ id }) => id)));
  return slots;
}

/** Drops what the catalogue says of projections that there are no more. */
async function forgetOthers(
  store: TableStore,
  catalogue: ReadonlyMap<string, CatalogueRow>,
  projections: readonly Projection[],
): Promise<void> {
  const names = new Set(projections.map(({ name }) => name));
  const gone = [...catalogue.keys()].filter((name) => !names.has(name));
  if (gone.length > 0) await store.write(gone.map((name) => ({ key: CATALOGUE_PREFIX + name })));
}

/** Clears the slots that no catalogue row names: builds that a crash or a swap left behind. */
async function sweepSlots(store: TableStore, used: ReadonlySet<string>): Promise<void> {
  for (const id of SLOTS) {
    if (!used.has(id) && (await store.has(rangeOfPrefix(id)))) await clearSlot(store, id);
  }
}
