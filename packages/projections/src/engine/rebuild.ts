import {
  type BuildOptions,
  buildUntil,
  type EngineParts,
  type FreshBuild,
  withFreshSlots,
} from './fresh-build.ts';
import type { LiveProjection } from './live-projection.ts';
import { rangeOfTables } from './physical-keys.ts';
import { carryFiles, catalogueWrite } from './slot.ts';
import type { TableStore } from './table-store.ts';

export interface RebuildReport {
  name: string;
  /** The seq that the new rows hold. */
  seq: number;
  rows: number;
}

/**
 * Builds projections anew from the whole log, beside their rows, and swaps. Reads and live events go on from
 * the old rows until then. The catalogue changes in one write: a crash leaves the old build or the new one.
 * Every file of either build is marked, so that each shows the new rows and what they do not have vanishes.
 */
export async function rebuild(
  parts: EngineParts,
  lives: readonly LiveProjection[],
  options: BuildOptions,
): Promise<RebuildReport[]> {
  const { source, store, renderer, commitLock } = parts;
  return await withFreshSlots(parts, lives, async (builds) => {
    await buildUntil(parts, builds, source.head(), options);
    // What came in meanwhile is far less: after this round little is left to be done under the locks.
    await buildUntil(parts, builds, source.head(), options);
    await renderer.lock.run(async () => {
      for (const { live, fresh } of builds) await carryFiles(store, live.slot.id, fresh.id);
      await commitLock.run(async () => {
        await buildUntil(parts, builds, source.head(), options);
        await swap(store, builds);
      });
    });
    renderer.notice();
    const reports: RebuildReport[] = [];
    for (const { live, fresh } of builds) {
      reports.push({
        name: live.projection.name,
        seq: fresh.checkpoint,
        rows: await countRows(store, fresh.id),
      });
    }
    return reports;
  });
}

async function swap(store: TableStore, builds: readonly FreshBuild[]): Promise<void> {
  await store.write(builds.map(({ fresh }) => catalogueWrite(fresh)));
  for (const { live, fresh } of builds) live.slot = fresh;
  for (const { live } of builds) live.advanced();
}

async function countRows(store: TableStore, slot: string): Promise<number> {
  let rows = 0;
  for await (const _ of store.rows(rangeOfTables(slot))) rows += 1;
  return rows;
}
