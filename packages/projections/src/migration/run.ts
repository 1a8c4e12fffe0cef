/*
 * Brings a plan into the log. The order is what makes it safe to stop anywhere: clears first, so that no
 * import can bring back what was cleared; then everything else; then all of it is read back; and only when
 * it is equal `migration_completed` is appended. After a crash the same plan is run again: what is in the
 * log already is known by its id, and without `migration_completed` nothing is taken for done.
 */
import { assert, streamOf, TurnlogError } from '@turnlog/events';
import { forEachConcurrently } from './concurrently.ts';
import type { MigrationItem, MigrationPlan } from './plan.ts';
import { readBack } from './read-back.ts';
import { type MigrationReport, reportOf, type Settled } from './report.ts';
import type { MigrationTarget } from './target.ts';
import { type Placed, verify } from './verify.ts';

/** How many items are under way at once. */
const ITEMS_IN_FLIGHT_MAX = 64;
/** How often an item is decided anew because its stream moved on in between. */
const ATTEMPTS_MAX = 5;

export interface MigrationProgress {
  phase: 'bringing in' | 'reading back';
  done: number;
  total: number;
}

export interface MigrationOptions {
  /** Looks everything up and appends nothing. */
  dryRun?: boolean;
  onProgress?: (progress: MigrationProgress) => void;
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
  const { dryRun = false, onProgress = () => {} } = options;
  const stream = streamOf.migration(plan.source);
  const completedId = `migrate:completed:${plan.fingerprint}`;
  if ((await target.seqOf(stream, completedId)) !== undefined) {
    const settled = plan.items.map((item): Settled => ({ item, outcome: 'alreadyThere' }));
    return reportOf(plan, settled, { dryRun, completed: 'before', incomplete: [] });
  }

  const total = plan.items.length;
  const placed = new Map<MigrationItem, Placed>();
  const place = async (item: MigrationItem) => {
    placed.set(item, await placeItem(target, item, dryRun));
    onProgress({ phase: 'bringing in', done: placed.size, total });
  };
  const isClear = (item: MigrationItem) => item.kind === 'cleared';
  await forEachConcurrently(plan.items.filter(isClear), ITEMS_IN_FLIGHT_MAX, place);
  await forEachConcurrently(
    plan.items.filter((item) => !isClear(item)),
    ITEMS_IN_FLIGHT_MAX,
    place,
  );
  const inOrder = plan.items.map((item) => {
    const settled = placed.get(item);
    assert(settled !== undefined, 'every item was placed');
    return settled;
  });
  if (dryRun) return reportOf(plan, inOrder, { dryRun, completed: 'no', incomplete: plan.incomplete });

  await target.flush();
  const settled = await verify(target, inOrder, {
    inFlightMax: ITEMS_IN_FLIGHT_MAX,
    onVerified: (done) => onProgress({ phase: 'reading back', done, total }),
  });
  const failures = settled.filter(({ outcome }) => outcome === 'failed').length;
  const incomplete = [...plan.incomplete, ...(failures > 0 ? [`${failures} items failed`] : [])];
  if (incomplete.length > 0) return reportOf(plan, settled, { dryRun, completed: 'no', incomplete });

  const { source, fingerprint, counts } = plan;
  await target.append(stream, [
    { id: completedId, type: 'migration_completed', data: { source, fingerprint, counts } },
  ]);
  await target.flush();
  return reportOf(plan, settled, { dryRun, completed: 'now', incomplete });
}

/** Appends an item unless the log has it, or something else in its place. */
async function placeItem(target: MigrationTarget, item: MigrationItem, dryRun: boolean): Promise<Placed> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    // The revision is asked for first: whatever comes after it makes the append fail.
    const expectedRevision = await target.revision(item.stream);
    const seq = await target.seqOf(item.stream, item.event.id);
    if (seq !== undefined) return { item, outcome: 'alreadyThere', seq };
    const found = await readBack(target, item);
    if (found === 'equal') return { item, outcome: 'alreadyThere' };
    if (found === 'other') return { item, outcome: 'kept', reason: 'the log has something else there' };
    if (expectedRevision > 0 && (item.kind === 'session' || item.kind === 'transcript')) {
      return { item, outcome: 'kept', reason: 'it was taken away in the log' };
    }
    if (dryRun) return { item, outcome: 'broughtIn' };
    try {
      await target.append(item.stream, [item.event], { expectedRevision });
      return { item, outcome: 'broughtIn' };
    } catch (error) {
      if (isRefusal(error)) return { item, outcome: 'failed', reason: error.message };
      if (!(error instanceof TurnlogError) || error.code !== 'revision_conflict') throw error;
    }
  }
  return { item, outcome: 'failed', reason: 'it is being changed all the time; run the migration again' };
}

/** An error that is about this event and not about the store. */
function isRefusal(error: unknown): error is TurnlogError {
  return (
    error instanceof TurnlogError && ['invalid_argument', 'too_large', 'event_conflict'].includes(error.code)
  );
}
