/*
 * What takes the resume id and the snapshot of a session: it lives on with neither, and what turns of its
 * earlier life report afterwards no longer counts.
 */
import { initialMeter, sessionKeyOf } from '@turnlog/events';
import type { TableReader, TableWriter } from '../engine/projection.ts';
import {
  BY_CONVERSATION,
  conversationPrefix,
  newSession,
  putSession,
  SESSIONS,
  type SessionRow,
  sessionOf,
} from './tables.ts';

/** Providers that have one session a conversation under the usual key. */
const PROVIDERS = [
  'codex',
  'claude',
  'opencode',
  'pi',
  'hermes',
  'crewcoder',
  'grok',
  'ollama',
  'openrouter',
];
/** Providers of which there may be any number. */
const PROVIDER_FAMILIES = ['plugin:', 'acp:'];

export async function endSession(tables: TableWriter, sessionKey: string, seq: number): Promise<void> {
  const before = await sessionOf(tables, sessionKey);
  const { sessionId: _, ...rest } = before ?? newSession();
  putSession(tables, sessionKey, before, { ...rest, meter: initialMeter(), life: rest.life + 1 }, seq);
}

export async function endSessionsOf(
  tables: TableWriter,
  conversationKey: string,
  seq: number,
): Promise<void> {
  const sessionKeys = new Set<string>();
  for await (const sessionKey of sessionKeysOf(tables, conversationKey)) sessionKeys.add(sessionKey);
  for (const sessionKey of sessionKeys) await endSession(tables, sessionKey, seq);
}

/** A bridge of the conversation speaks for the session. */
export async function linkSession(
  tables: TableWriter,
  conversationKey: string,
  sessionKey: string,
): Promise<void> {
  const key = conversationPrefix(conversationKey) + sessionKey;
  if ((await tables.get(BY_CONVERSATION, key)) === undefined) tables.put(BY_CONVERSATION, key, true);
}

/**
 * The sessions of a conversation: those that its bridges spoke for, and those that lie under its usual keys
 * because they were brought in before any bridge was there.
 */
async function* sessionKeysOf(tables: TableReader, conversationKey: string): AsyncGenerator<string> {
  const prefix = conversationPrefix(conversationKey);
  for await (const [key] of tables.range(BY_CONVERSATION, { prefix })) yield key.slice(prefix.length);
  for (const provider of PROVIDERS) {
    const sessionKey = sessionKeyOf(conversationKey, provider);
    if ((await sessionOf(tables, sessionKey)) !== undefined) yield sessionKey;
  }
  for (const family of PROVIDER_FAMILIES) {
    const ofFamily = { prefix: sessionKeyOf(conversationKey, family) };
    for await (const [sessionKey, row] of tables.range<SessionRow>(SESSIONS, ofFamily)) {
      if (isOfFamily(conversationKey, sessionKey, row)) yield sessionKey;
    }
  }
}

/**
 * Whether a key that begins like one of the conversation's is one: that of another conversation may as well
 * (`a:plugin:x` with codex). A session that was brought in does not say its provider; then it is taken for
 * the other conversation's where its key ends with the name of a provider.
 */
function isOfFamily(conversationKey: string, sessionKey: string, { provider }: SessionRow): boolean {
  if (provider !== undefined) return sessionKey === sessionKeyOf(conversationKey, provider);
  return !PROVIDERS.some((name) => sessionKey.endsWith(`:${name}`));
}
