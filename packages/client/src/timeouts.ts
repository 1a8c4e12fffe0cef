import type { OperationName } from '@turnlog/events';

/** How long an answer may take, where the caller does not say. */
export const CALL_TIMEOUT_MS = 30_000;
const MINUTE_MS = 60_000;

/** What works through whole directories or the whole log. */
const LONG_TIMEOUTS_MS: Partial<Record<OperationName, number>> = {
  'transcripts.saveBatch': 5 * MINUTE_MS,
  'transcripts.loadAll': 5 * MINUTE_MS,
  'projections.flush': 10 * MINUTE_MS,
  'projections.rebuild': 24 * 60 * MINUTE_MS,
  'log.verify': 24 * 60 * MINUTE_MS,
  'migration.import': 5 * MINUTE_MS,
  'migration.readBack': 5 * MINUTE_MS,
  'migration.run': 24 * 60 * MINUTE_MS,
};

export function timeoutOf(name: OperationName): number {
  return LONG_TIMEOUTS_MS[name] ?? CALL_TIMEOUT_MS;
}
