import { streamOf, TurnlogError } from '@turnlog/events';
import { mapConcurrently } from './concurrently.ts';
import { digestIn, digestOfItem } from './content.ts';
import type { MigrationItem } from './items.ts';
import type { MigrationStore, MigrationTarget, Placement } from './target.ts';

/** How many items are under way at once; what they append shares a write. */
const IN_FLIGHT_MAX = 64;
/** How often an item is decided anew because its stream moved on in between. */
const ATTEMPTS_MAX = 5;

/** A migration into a store that this process opened. */
export function storeTarget(store: MigrationStore): MigrationTarget {
  return {
    isCompleted: async (source, fingerprint) =>
      (await store.seqOf(streamOf.migration(source), completionId(fingerprint))) !== undefined,
    place: (items, { dryRun }) =>
      mapConcurrently(items, IN_FLIGHT_MAX, (item) => placeItem(store, item, dryRun)),
    digests: (subjects) => mapConcurrently(subjects, IN_FLIGHT_MAX, (subject) => digestIn(store, subject)),
    read: (from) => store.read(from),
    async complete({ source, fingerprint, counts }) {
      const data = { source, fingerprint, counts };
      await store.append(streamOf.migration(source), [
        { id: completionId(fingerprint), type: 'migration_completed', data },
      ]);
    },
    flush: () => store.flush(),
  };
}

function completionId(fingerprint: string): string {
  return `migrate:completed:${fingerprint}`;
}

/** Appends an item unless the log has it, or something else in its place. */
async function placeItem(store: MigrationStore, item: MigrationItem, dryRun: boolean): Promise<Placement> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    // The revision is asked for first: whatever comes after it makes the append fail.
    const expectedRevision = await store.revision(item.stream);
    const known = await store.seqOf(item.stream, item.event.id);
    if (known !== undefined) return { outcome: 'alreadyThere', seq: known };
    const found = await digestIn(store, item);
    if (found === digestOfItem(item)) return { outcome: 'alreadyThere' };
    if (found !== undefined) return { outcome: 'kept', reason: 'the log has something else there' };
    if (expectedRevision > 0 && (item.kind === 'session' || item.kind === 'transcript')) {
      return { outcome: 'kept', reason: 'it was taken away in the log' };
    }
    if (dryRun) return { outcome: 'broughtIn' };
    try {
      const { seq } = await store.append(item.stream, [item.event], { expectedRevision });
      return { outcome: 'broughtIn', seq };
    } catch (error) {
      if (isRefusal(error)) return { outcome: 'failed', reason: error.message };
      if (!(error instanceof TurnlogError) || error.code !== 'revision_conflict') throw error;
    }
  }
  return { outcome: 'failed', reason: 'it is being changed all the time; run the migration again' };
}

/** An error that is about this event and not about the store. */
export function isRefusal(error: unknown): error is TurnlogError {
  return (
    error instanceof TurnlogError && ['invalid_argument', 'too_large', 'event_conflict'].includes(error.code)
  );
}
