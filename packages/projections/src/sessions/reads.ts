import { initialMeter, type MeterState, type UsageSnapshot } from '@turnlog/events';
import type { TableReader } from '../engine/projection.ts';
import { sessionOf, shownOf } from './tables.ts';

/** The resume id of a session and its last known usage, each where it is known. */
export async function getSession(
  tables: TableReader,
  sessionKey: string,
): Promise<{ sessionId?: string; usage?: UsageSnapshot }> {
  return shownOf(await sessionOf(tables, sessionKey));
}

/** The meter of a session; one that begins where nothing is known of it. */
export async function getMeter(tables: TableReader, sessionKey: string): Promise<MeterState> {
  return (await sessionOf(tables, sessionKey))?.meter ?? initialMeter();
}
