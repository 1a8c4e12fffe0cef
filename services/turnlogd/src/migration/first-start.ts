import { streamOf } from '@turnlog/events';
import type { Log } from '@turnlog/log';
import { MIGRATION_SOURCE, type MigrationReport } from '@turnlog/projections';
import { type MigrateOptions, type MigrationParts, migrate } from './migrate.ts';

/** The ids of what a migration brings in begin so. */
const MIGRATED_ID = 'migrate:';

/**
 * Brings in a user-data directory where the log is empty, or holds nothing but the beginning of such a
 * migration that was interrupted. From then on the directory is not even looked at.
 * @returns undefined where it is not the first start
 */
export async function migrateAtFirstStart(
  parts: MigrationParts,
  options: MigrateOptions,
): Promise<MigrationReport | undefined> {
  return (await isFirstStart(parts.log)) ? await migrate(parts, options) : undefined;
}

async function isFirstStart(log: Log): Promise<boolean> {
  const completions = streamOf.migration(MIGRATION_SOURCE);
  if ((await log.revisionOf(completions)) > 0) return false;
  for await (const { id, type } of log.read()) {
    if (type !== 'payload_part' && !id.startsWith(MIGRATED_ID)) return false;
  }
  return true;
}
