import { initialMeter, type MeterState, snapshotOf, type UsageSnapshot } from '@turnlog/events';
import { type MaybePromise, numberKey, type TableReader, type TableWriter } from '../engine/projection.ts';

// The tables of the sessions. A row stays when its resume id and its snapshot go, so that the order of the
// file and what is known of late reports stay too.

/** Session key → {@link SessionRow}. */
export const SESSIONS = 'sessions';
/** Seq of the event that first brought something to show → session key: the order of the file. */
export const ORDER = 'session_order';
/** Conversation key and session key → true. */
export const BY_CONVERSATION = 'sessions_by_conversation';
/** Session key → {@link TurnMark} of its latest turns, the latest last. */
export const TURNS = 'session_turns';

export const SESSIONS_REF = 'sessions';

export interface SessionRow {
  /** The provider's own id, which resumes the session. */
  sessionId?: string;
  meter: MeterState;
  provider?: string;
  /** Whether usage was ever reported; a snapshot from elsewhere comes too late then. */
  measured: boolean;
  /** The seq that gave it its place in the file. */
  place?: number;
  /** How often it was ended by a clear, a reset and the like. What began in an earlier life is stale. */
  life: number;
}

/** A turn, and the life of the session in which it began. */
export interface TurnMark {
  bridgeId: string;
  turnId: string;
  life: number;
  /** Its end was not seen yet, so that a report which names no turn may be of it. */
  open: boolean;
}

export function sessionOf(tables: TableReader, sessionKey: string): MaybePromise<SessionRow | undefined> {
  return tables.get<SessionRow>(SESSIONS, sessionKey);
}

export function newSession(): SessionRow {
  return { meter: initialMeter(), measured: false, life: 0 };
}

/** What the file and hosts are shown of a session; `{}` where there is nothing. */
export function shownOf(row: SessionRow | undefined): { sessionId?: string; usage?: UsageSnapshot } {
  const { sessionId } = row ?? {};
  const usage = row === undefined ? undefined : snapshotOf(row.meter);
  return { ...(sessionId !== undefined && { sessionId }), ...(usage !== undefined && { usage }) };
}

/** Writes a row. Its place in the file is that of the first time that it had something to show. */
export function putSession(
  tables: TableWriter,
  sessionKey: string,
  before: SessionRow | undefined,
  after: SessionRow,
  seq: number,
): void {
  const shown = JSON.stringify(shownOf(after));
  const isPlaced = after.place !== undefined || shown === '{}';
  tables.put(SESSIONS, sessionKey, isPlaced ? after : { ...after, place: seq });
  if (!isPlaced) tables.put(ORDER, numberKey(seq), sessionKey);
  if (shown !== JSON.stringify(shownOf(before))) tables.markDirty(SESSIONS_REF);
}

/** The length keeps two pairs of keys from making one. */
export function conversationPrefix(conversationKey: string): string {
  return `${conversationKey.length}:${conversationKey}`;
}
