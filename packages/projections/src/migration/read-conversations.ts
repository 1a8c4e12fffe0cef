import { isKey, JsonText, type Message } from '@turnlog/events';
import { fileDigestOf } from '../file-digest.ts';
import { type ParsedClearedList, parseClearedList } from './cleared-list.ts';
import { fieldOf, isRecord, readFile, readJson, readNames, type UserDataReader } from './read-file.ts';
import type { ClearedList, StoredConversation } from './user-data.ts';

export const MONOLITH_FILE = 'agent-conversations.json';
export const CONVERSATIONS_DIRECTORY = 'conversations';
const CLEARED_FILE = `${CONVERSATIONS_DIRECTORY}/.agent-conversations-cleared.json`;
/** Exactly this: a name with anything after it is somebody's backup and is not read. */
const SHARD_NAME = /^agent-conversations\.([0-9a-f]{24})\.json$/;

export const BAD_KEY = 'has a key that cannot be kept: empty, over 4,096 bytes, or with a lone surrogate';

/** The legacy file of all conversations; undefined where it is there and cannot be read. */
export async function readMonolith(reader: UserDataReader): Promise<StoredConversation[] | undefined> {
  const content = await readJson(reader, MONOLITH_FILE);
  if (content === 'absent') return [];
  if (content === 'unreadable') return undefined;
  const conversations = fieldOf(content.value, 'conversations');
  if (!isRecord(conversations)) {
    reader.problems.push({ file: MONOLITH_FILE, reason: 'has no "conversations" object' });
    return undefined;
  }
  const found: StoredConversation[] = [];
  for (const [key, rows] of Object.entries(conversations)) {
    const conversation = understand(reader, MONOLITH_FILE, key, rows);
    if (conversation !== undefined) found.push(conversation);
  }
  return found;
}

/** Every shard that can be read; undefined where their directory cannot. */
export async function readShards(reader: UserDataReader): Promise<StoredConversation[] | undefined> {
  const names = await readNames(reader, CONVERSATIONS_DIRECTORY);
  if (names === 'unreadable') return undefined;
  if (names === 'absent') return [];
  const conversations: StoredConversation[] = [];
  for (const name of names) {
    const digest = SHARD_NAME.exec(name)?.[1];
    if (digest === undefined) continue;
    const conversation = await readShard(reader, `${CONVERSATIONS_DIRECTORY}/${name}`, digest);
    if (conversation !== undefined) conversations.push(conversation);
  }
  return conversations;
}

async function readShard(
  reader: UserDataReader,
  file: string,
  digest: string,
): Promise<StoredConversation | undefined> {
  const content = await readJson(reader, file);
  if (typeof content === 'string') return undefined;
  let own: StoredConversation | undefined;
  const entries = shardEntries(content.value);
  if (entries.length === 0) reader.problems.push({ file, reason: 'holds no conversation' });
  for (const [key, rows] of entries) {
    // CrewCode finds a shard by its name only: what stands under another key was never read by it.
    if (fileDigestOf(key) === digest) own = understand(reader, file, key, rows);
    else reader.problems.push({ file, reason: 'holds a conversation that is not the one of its name', key });
  }
  return own;
}

/** Both shapes: `{ conversations: { key: rows } }` and the older `{ sessionId, messages }`. */
function shardEntries(value: unknown): [key: string, rows: unknown][] {
  const conversations = fieldOf(value, 'conversations');
  if (isRecord(conversations)) return Object.entries(conversations);
  const key = fieldOf(value, 'sessionId');
  return typeof key === 'string' ? [[key, fieldOf(value, 'messages')]] : [];
}

/** Parts the rows of a conversation into messages and what is none. */
function understand(
  reader: UserDataReader,
  file: string,
  conversationKey: string,
  rows: unknown,
): StoredConversation | undefined {
  const refuse = (reason: string) => {
    reader.problems.push({ file, reason, key: conversationKey });
    return undefined;
  };
  if (!isKey(conversationKey)) return refuse(BAD_KEY);
  if (!Array.isArray(rows)) return refuse('holds a conversation without a list of messages');
  const conversation: StoredConversation = { conversationKey, messages: [], setAside: [] };
  try {
    rows.forEach((row, place) => {
      const message = messageOf(row);
      if (message !== undefined) conversation.messages.push(message);
      else conversation.setAside.push({ place, row: JsonText.of(row) });
    });
  } catch {
    return refuse('holds a row that is nested too deep');
  }
  return conversation;
}

function messageOf(row: unknown): Message | undefined {
  const role = fieldOf(row, 'role');
  const content = fieldOf(row, 'content');
  if ((role !== 'user' && role !== 'assistant') || typeof content !== 'string') return undefined;
  return { role, content };
}

/** The conversations that were cleared; see `cleared-list.ts` for a list that is damaged. */
export async function readCleared(reader: UserDataReader): Promise<ClearedList> {
  const content = await readFile(reader, CLEARED_FILE);
  if (content === 'absent') return { keys: [], unknownEntry: false };
  if (content === 'unreadable') return { keys: [], unknownEntry: true };
  const { damage, ...list }: ParsedClearedList = parseClearedList(content.bytes);
  if (damage !== undefined) reader.problems.push({ file: CLEARED_FILE, reason: damage });
  const keys = list.keys.filter((key) => {
    if (isKey(key)) return true;
    reader.problems.push({ file: CLEARED_FILE, reason: BAD_KEY, key });
    return false;
  });
  return { ...list, keys: [...new Set(keys)] };
}
