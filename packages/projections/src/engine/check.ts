import type { AbstractSnapshot } from 'abstract-level';
import {
  type BuildOptions,
  buildUntil,
  type EngineParts,
  type FreshBuild,
  withFreshSlots,
} from './fresh-build.ts';
import type { LiveProjection } from './live-projection.ts';
import { compareKeys, rangeOfTables } from './physical-keys.ts';
import { refsOf } from './slot.ts';
import { SnapshotTables } from './snapshot-tables.ts';

export interface CheckReport {
  name: string;
  /** The seq at which both were compared. */
  seq: number;
  /** Rows of the fresh build. */
  rows: number;
  /** Files that were compared. */
  files: number;
  equal: boolean;
  /** The first differences, in words. */
  differences: string[];
}

/**
 * Compares projections with a build of them from nothing, at the same seq, byte for byte: their rows, and
 * then their files, which are rendered for it as they are due. The build is dropped afterwards.
 * @throws ProjectionError where a file cannot be rendered
 */
export async function check(
  parts: EngineParts,
  lives: readonly LiveProjection[],
  options: BuildOptions,
): Promise<CheckReport[]> {
  return await withFreshSlots(parts, lives, async (builds) => {
    await buildUntil(parts, builds, leastCheckpoint(builds), options);
    await buildUntil(parts, builds, leastCheckpoint(builds), options);
    // No file is written while files are compared, and both builds are read as they were at one moment.
    return await parts.renderer.lock.run(async () => {
      const snapshot = await parts.commitLock.run(async () => {
        for (const build of builds) await buildUntil(parts, [build], build.live.slot.checkpoint, options);
        return parts.store.snapshot();
      });
      try {
        const reports: CheckReport[] = [];
        for (const build of builds) reports.push(await compare(parts, build, snapshot));
        return reports;
      } finally {
        await snapshot.close();
      }
    });
  });
}

function leastCheckpoint(builds: readonly FreshBuild[]): number {
  return Math.min(...builds.map(({ live }) => live.slot.checkpoint));
}

async function compare(
  parts: EngineParts,
  build: FreshBuild,
  snapshot: AbstractSnapshot,
): Promise<CheckReport> {
  const { differencesMax } = parts.limits;
  const report: CheckReport = {
    name: build.live.projection.name,
    seq: build.fresh.checkpoint,
    rows: 0,
    files: 0,
    equal: true,
    differences: [],
  };
  const differs = (difference: string) => {
    report.equal = false;
    if (report.differences.length < differencesMax) report.differences.push(difference);
  };
  report.rows = await compareRows(parts, build, snapshot, differs);
  report.files = await compareFiles(parts, build, snapshot, differs);
  return report;
}

async function compareRows(
  { store }: EngineParts,
  { live, fresh }: FreshBuild,
  snapshot: AbstractSnapshot,
  differs: (difference: string) => void,
): Promise<number> {
  const ours = store.storedRows(rangeOfTables(live.slot.id), snapshot);
  const theirs = store.storedRows(rangeOfTables(fresh.id), snapshot);
  let rows = 0;
  try {
    let our = await ours.next();
    let their = await theirs.next();
    while (!our.done || !their.done) {
      const ourKey = our.done ? undefined : our.value[0].slice(live.slot.id.length);
      const theirKey = their.done ? undefined : their.value[0].slice(fresh.id.length);
      const order = orderOf(ourKey, theirKey);
      if (order < 0) differs(`a row too many: ${describeKey(ourKey)}`);
      else if (order > 0) differs(`a row is missing: ${describeKey(theirKey)}`);
      else if (!our.done && !their.done && !our.value[1].equals(their.value[1])) {
        differs(`a row has another value: ${describeKey(ourKey)}`);
      }
      if (order >= 0) rows += 1;
      if (order <= 0) our = await ours.next();
      if (order >= 0) their = await theirs.next();
    }
  } finally {
    await ours.return(undefined);
    await theirs.return(undefined);
  }
  return rows;
}

function orderOf(one: string | undefined, other: string | undefined): number {
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  return compareKeys(one, other);
}

function describeKey(key: string | undefined): string {
  const [table = '', ...rest] = (key ?? '').split('\0');
  return `${table} ${JSON.stringify(rest.join('\0'))}`;
}

async function compareFiles(
  { store, renderer, files }: EngineParts,
  { live, fresh }: FreshBuild,
  snapshot: AbstractSnapshot,
  differs: (difference: string) => void,
): Promise<number> {
  const { projection } = live;
  if (projection.fileOf === undefined || projection.render === undefined) return 0;
  await renderer.renderSnapshot(live, snapshot);
  const tables = new SnapshotTables(store, fresh.id, snapshot);
  const refs = new Set<string>();
  for (const slot of [live.slot.id, fresh.id]) for await (const ref of refsOf(store, slot)) refs.add(ref);
  for (const ref of refs) {
    const file = projection.fileOf(ref);
    if (!(await files.shows(file, await projection.render(tables, ref)))) differs(`a file differs: ${file}`);
  }
  return refs.size;
}
