/*
 * Brings a plan into the log. The order is what makes it safe to stop anywhere: clears first, so that no
 * import can bring back what was cleared; then everything else; then all of it is read back; and only when
 * it is equal `migration_completed` is appended. After a crash the same plan is run again: what is in the
 * log already is known by its id, and without `migration_completed` nothing is taken for done.
 */
import { assert } from '@turnlog/events';
import { inBatches } from './batches.ts';
import type { MigrationItem } from './items.ts';
import type { MigrationPlan } from './plan.ts';
import { type MigrationReport, reportOf, type Settled } from './report.ts';
import type { MigrationTarget, Placement } from './target.ts';
import { type Placed, verify } from './verify.ts';

/** How many items a target is given at once. */
export const MIGRATION_BATCH_ITEMS = 256;

export interface MigrationProgress {
  phase: 'bringing in' | 'reading back';
  done: number;
  total: number;
}

export interface MigrationOptions {
  /** Looks everything up and appends nothing. */
  dryRun?: boolean;
  onProgress?: (progress: MigrationProgress) => void;
  /** Stops between two batches of items; the same plan goes on from there. */
  signal?: AbortSignal;
}

/**
 * Brings in what is missing, and only that: what the log has in an item's place already stays as it is.
 * @throws what the target throws, where it is not about one item; run the same plan again then
 */
export async function runMigration(
  plan: MigrationPlan,
  target: MigrationTarget,
  options: MigrationOptions = {},
): Promise<MigrationReport> {
  const { dryRun = false, onProgress = () => {}, signal } = options;
  const { source, fingerprint, counts, items } = plan;
  if (await target.isCompleted(source, fingerprint)) {
    const settled = items.map((item): Settled => ({ item, outcome: 'alreadyThere' }));
    return reportOf(plan, settled, { dryRun, completed: 'before', incomplete: [] });
  }

  const total = items.length;
  const placed: Placed[] = [];
  const placeAll = async (some: readonly MigrationItem[]) => {
    for (const batch of inBatches(some, MIGRATION_BATCH_ITEMS)) {
      signal?.throwIfAborted();
      const placements = await target.place(batch, { dryRun });
      assert(placements.length === batch.length, 'every item was placed');
      batch.forEach((item, place) => {
        placed.push({ ...(placements[place] as Placement), item });
      });
      onProgress({ phase: 'bringing in', done: placed.length, total });
    }
  };
  await placeAll(items.filter(({ kind }) => kind === 'cleared'));
  await placeAll(items.filter(({ kind }) => kind !== 'cleared'));
  if (dryRun) return reportOf(plan, placed, { dryRun, completed: 'no', incomplete: plan.incomplete });

  await target.flush();
  const settled = await verify(target, placed, {
    batchSize: MIGRATION_BATCH_ITEMS,
    onVerified: (done) => {
      signal?.throwIfAborted();
      onProgress({ phase: 'reading back', done, total });
    },
  });
  const failures = settled.filter(({ outcome }) => outcome === 'failed').length;
  const incomplete = [...plan.incomplete, ...(failures > 0 ? [`${failures} items failed`] : [])];
  if (incomplete.length > 0) return reportOf(plan, settled, { dryRun, completed: 'no', incomplete });

  await target.complete({ source, fingerprint, counts });
  await target.flush();
  return reportOf(plan, settled, { dryRun, completed: 'now', incomplete });
}
