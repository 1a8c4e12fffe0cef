import { isKey, type UsageSnapshot } from '@turnlog/events';
import { BAD_KEY } from './read-conversations.ts';
import { fieldOf, isRecord, readJson, type UserDataReader } from './read-file.ts';
import type { StoredSession } from './user-data.ts';

export const SESSIONS_FILE = 'agent-sessions.json';
const MODEL_LENGTH_MAX = 65_536;

/** Resume ids and usage snapshots; undefined where the file is there and cannot be read. */
export async function readSessions(reader: UserDataReader): Promise<StoredSession[] | undefined> {
  const content = await readJson(reader, SESSIONS_FILE);
  if (content === 'absent') return [];
  if (content === 'unreadable') return undefined;
  const sessions = new Map<string, StoredSession>();
  const sessionIds = mapOf(reader, content.value, 'sessions');
  const usages = mapOf(reader, content.value, 'usage');
  if (sessionIds === undefined && usages === undefined) {
    reader.problems.push({ file: SESSIONS_FILE, reason: 'has neither sessions nor usage' });
    return undefined;
  }
  for (const [sessionKey, sessionId] of Object.entries(sessionIds ?? {})) {
    if (!isKey(sessionKey)) note(reader, sessionKey, BAD_KEY);
    else if (typeof sessionId !== 'string') note(reader, sessionKey, 'has a session id that is no text');
    else sessions.set(sessionKey, { sessionKey, sessionId });
  }
  for (const [sessionKey, value] of Object.entries(usages ?? {})) {
    const usage = isKey(sessionKey) ? usageOf(reader, sessionKey, value) : undefined;
    if (!isKey(sessionKey)) note(reader, sessionKey, BAD_KEY);
    if (usage !== undefined) sessions.set(sessionKey, { sessionKey, ...sessions.get(sessionKey), usage });
  }
  return [...sessions.values()];
}

function note(reader: UserDataReader, key: string, reason: string): void {
  reader.problems.push({ file: SESSIONS_FILE, reason, key });
}

function mapOf(reader: UserDataReader, value: unknown, name: string): Record<string, unknown> | undefined {
  const field = fieldOf(value, name);
  if (isRecord(field)) return field;
  if (field !== undefined) reader.problems.push({ file: SESSIONS_FILE, reason: `"${name}" is no object` });
  return undefined;
}

/** Figures are whole as CrewCode writes them: it rounds down. A bad optional field costs only itself. */
function usageOf(reader: UserDataReader, sessionKey: string, value: unknown): UsageSnapshot | undefined {
  const contextTokens = fieldOf(value, 'contextTokens');
  if (!isFigure(contextTokens)) {
    note(reader, sessionKey, 'has a usage entry without a figure of 0 or more as "contextTokens"');
    return undefined;
  }
  const usage: UsageSnapshot = { contextTokens: Math.floor(contextTokens) };
  const contextWindow = fieldOf(value, 'contextWindow');
  if (isFigure(contextWindow) && contextWindow > 0) usage.contextWindow = Math.floor(contextWindow);
  else if (contextWindow !== undefined) note(reader, sessionKey, 'has a "contextWindow" that is no figure');
  const model = fieldOf(value, 'model');
  if (typeof model === 'string' && model.length <= MODEL_LENGTH_MAX && model.isWellFormed()) {
    usage.model = model;
  } else if (model !== undefined) {
    note(reader, sessionKey, 'has a "model" that is no name');
  }
  return usage;
}

function isFigure(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
