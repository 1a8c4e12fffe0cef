/*
 * What a migration brings in: each item is one event whose id is made of its content alone, so appending it
 * again, after an interruption or in a second run, is a no-op, whichever way it came.
 */
import { createHash } from 'node:crypto';
import { type EventData, type NewEvent, streamOf } from '@turnlog/events';
import type { StoredConversation, StoredSession, StoredTranscript } from './user-data.ts';

/** The name of the source in the events. */
export const MIGRATION_SOURCE = 'crewcode';

export type MigrationKind = 'cleared' | 'conversation' | 'session' | 'transcript';

type MigrationEventType = {
  cleared: 'conversation_cleared';
  conversation: 'conversation_imported';
  session: 'session_imported';
  transcript: 'transcript_saved';
};

type ItemOf<Kind extends MigrationKind> = {
  kind: Kind;
  /** The conversation key, session key or scope. */
  key: string;
  stream: string;
  event: NewEvent<MigrationEventType[Kind]> & { id: string };
};

/** One event to bring in. */
export type MigrationItem = { [Kind in MigrationKind]: ItemOf<Kind> }[MigrationKind];

/** @param torn what the cleared list held in its place, where only the beginning of an entry was left */
export function clearedItem(conversationKey: string, torn?: string): MigrationItem {
  const stream = streamOf.conversation(conversationKey);
  return itemOf('cleared', conversationKey, stream, 'conversation_cleared', {
    conversationKey,
    reason: 'migrated',
    ...(torn !== undefined && { torn }),
  });
}

export function conversationItem({ conversationKey, messages, setAside }: StoredConversation): MigrationItem {
  const stream = streamOf.conversation(conversationKey);
  return itemOf('conversation', conversationKey, stream, 'conversation_imported', {
    conversationKey,
    source: MIGRATION_SOURCE,
    messages,
    ...(setAside.length > 0 && { setAside }),
  });
}

export function sessionItem({ sessionKey, sessionId, usage }: StoredSession): MigrationItem {
  return itemOf('session', sessionKey, streamOf.session(sessionKey), 'session_imported', {
    sessionKey,
    ...(sessionId !== undefined && { sessionId }),
    ...(usage !== undefined && { usage }),
    source: MIGRATION_SOURCE,
  });
}

export function transcriptItem({ scopeId, rows }: StoredTranscript): MigrationItem {
  return itemOf('transcript', scopeId, streamOf.transcript(scopeId), 'transcript_saved', {
    scopeId,
    rows: rows.map((row, place) => ({ rowId: place + 1, after: place, row })),
    removed: [],
  });
}

function itemOf<Kind extends MigrationKind>(
  kind: Kind,
  key: string,
  stream: string,
  type: MigrationEventType[Kind],
  data: EventData<MigrationEventType[Kind]>,
): MigrationItem {
  // JSON tells lone surrogates apart, and an opaque value stands in it as itself.
  const id = `migrate:${sha256(JSON.stringify([kind, key, data]))}`;
  return { kind, key, stream, event: { id, type, data } } as MigrationItem;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
