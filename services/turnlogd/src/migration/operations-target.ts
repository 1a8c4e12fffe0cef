/*
 * A migration into a daemon that cannot read the files, because it runs on another machine or as another
 * user. What is sent at once is bounded; the same items sent again are a no-op, so a run that lost its
 * connection is simply begun anew.
 */
import {
  MIGRATION_ITEMS_MAX,
  type OperationName,
  type OperationParameters,
  type OperationResult,
  streamOf,
  TurnlogError,
  type WireMigrationItem,
} from '@turnlog/events';
import type { MigrationItem, MigrationTarget, Placement, SeenEvent } from '@turnlog/projections';
import { wireItemOf } from './wire-items.ts';

/** The most content in one call, unless a single item is larger; in bytes of JSON. */
export const MIGRATION_CALL_BYTES_MAX = 4 * 1024 * 1024;

/** Calls an operation of the daemon. */
export type CallOperation = <Name extends OperationName>(
  name: Name,
  parameters: OperationParameters<Name>,
) => Promise<OperationResult<Name>>;

export function operationsTarget(call: CallOperation): MigrationTarget {
  return {
    async isCompleted(source, fingerprint) {
      const stream = streamOf.migration(source);
      for await (const { data } of eventsOf(call, { from: 1, stream, type: 'migration_completed' })) {
        if ('fingerprint' in data && data.fingerprint === fingerprint) return true;
      }
      return false;
    },
    async place(items, { dryRun }) {
      const placed: Placement[] = [];
      for (const batch of batchesOf(items)) placed.push(...(await placeBatch(call, batch, dryRun)));
      return placed;
    },
    async digests(subjects) {
      if (subjects.length === 0) return [];
      const { digests } = await call('migration.readBack', { subjects: [...subjects] });
      return digests.map((digest) => digest ?? undefined);
    },
    read: (from) => eventsOf(call, { from }),
    async complete(completion) {
      await call('migration.complete', completion);
    },
    async flush() {
      await call('projections.flush', {});
    },
  };
}

/** The items in batches that stay within the limits of a call; an item that is larger goes alone. */
function* batchesOf(items: readonly MigrationItem[]): Generator<WireMigrationItem[]> {
  let batch: WireMigrationItem[] = [];
  let batchBytes = 0;
  for (const item of items) {
    const wire = wireItemOf(item);
    const bytes = Buffer.byteLength(JSON.stringify(wire));
    const isFull = batch.length >= MIGRATION_ITEMS_MAX || batchBytes + bytes > MIGRATION_CALL_BYTES_MAX;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    batch.push(wire);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}

async function placeBatch(
  call: CallOperation,
  items: WireMigrationItem[],
  dryRun: boolean,
): Promise<Placement[]> {
  try {
    const { placed } = await call('migration.import', { items, dryRun });
    return placed;
  } catch (error) {
    // Of one item alone it is known which one the daemon does not take; the others go on.
    const isAboutIt =
      error instanceof TurnlogError && (error.code === 'too_large' || error.code === 'invalid_argument');
    if (!isAboutIt) throw error;
    if (items.length === 1) return [{ outcome: 'failed', reason: error.message }];
    const placed: Placement[] = [];
    for (const item of items) placed.push(...(await placeBatch(call, [item], dryRun)));
    return placed;
  }
}

async function* eventsOf(
  call: CallOperation,
  { from, ...filter }: { from: number; stream?: string; type?: string },
): AsyncGenerator<SeenEvent> {
  for (let next = from; ; ) {
    const page = await call('log.read', { from: next, limit: 1_000, ...filter });
    yield* page.events as SeenEvent[];
    if (page.next === next) return;
    next = page.next;
  }
}
