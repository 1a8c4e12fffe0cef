/*
 * What an item says and what a store holds, in one canonical form. Both sides of a migration make the digest
 * from what they have themselves, so that comparing costs no second transfer and still sees every character.
 */
import type { JsonText, Message } from '@turnlog/events';
import { type MigrationItem, sha256 } from './items.ts';
import type { MigrationStore, MigrationSubject, SessionRecord } from './target.ts';

type Content =
  | { kind: 'cleared' }
  | { kind: 'conversation'; messages: readonly Message[] }
  | { kind: 'session'; session: SessionRecord }
  | { kind: 'transcript'; rows: readonly JsonText[] };

/** The digest of a conversation that was cleared. */
export const CLEARED_DIGEST = contentDigest({ kind: 'cleared' });

/** JSON keeps every string apart, lone surrogates included. */
export function contentDigest(content: Content): string {
  return sha256(JSON.stringify(canonical(content)));
}

function canonical(content: Content): unknown[] {
  switch (content.kind) {
    case 'cleared':
      return ['cleared'];
    case 'conversation':
      return ['conversation', ...content.messages.map(({ role, content: text }) => [role, text])];
    case 'session': {
      const { sessionId = null, usage } = content.session;
      const figures = usage && [usage.contextTokens, usage.contextWindow ?? null, usage.model ?? null];
      return ['session', sessionId, figures ?? null];
    }
    case 'transcript':
      return ['transcript', ...content.rows.map((row) => row.text)];
  }
}

/** The digest of what an item brings. */
export function digestOfItem({ kind, event }: MigrationItem): string {
  switch (kind) {
    case 'cleared':
      return CLEARED_DIGEST;
    case 'conversation':
      return contentDigest({ kind, messages: event.data.messages });
    case 'session':
      return contentDigest({ kind, session: event.data as SessionRecord });
    case 'transcript':
      return contentDigest({ kind, rows: event.data.rows.map(({ row }) => row) });
  }
}

/** The digest of what a store holds; undefined where it holds nothing of it. */
export async function digestIn(
  store: MigrationStore,
  { kind, key }: MigrationSubject,
): Promise<string | undefined> {
  switch (kind) {
    case 'cleared':
    case 'conversation': {
      if (await store.isCleared(key)) return CLEARED_DIGEST;
      const messages = await store.loadConversation(key);
      return messages && contentDigest({ kind: 'conversation', messages });
    }
    case 'session': {
      const session = await store.getSession(key);
      const isKnown = session.sessionId !== undefined || session.usage !== undefined;
      return isKnown ? contentDigest({ kind, session }) : undefined;
    }
    case 'transcript': {
      const rows = await store.loadTranscript(key);
      return rows && contentDigest({ kind, rows });
    }
  }
}
