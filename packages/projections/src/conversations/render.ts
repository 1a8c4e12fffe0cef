/*
 * The files of the conversations, byte for byte as CrewCode writes them: compact JSON without a newline.
 * They are put together as text, so that a key such as `__proto__` comes out as any other.
 */
import { assert } from '@turnlog/events';
import type { TableReader } from '../engine/projection.ts';
import { fileDigestOf } from '../file-digest.ts';
import { CLEARED_REF, clearedInOrder, wasEverCleared } from './cleared-list.ts';
import { documentOf, MARKS, MIGRATED_AT, messagesOf, SHARD_REF } from './tables.ts';

export const MIGRATED_REF = 'migrated';

const DIRECTORY = 'conversations';
const LEGACY_FILE = 'agent-conversations.json';

/** The file of a dirty mark, relative to the data directory. */
export function fileOf(ref: string): string {
  if (ref === CLEARED_REF) return `${DIRECTORY}/.agent-conversations-cleared.json`;
  if (ref === MIGRATED_REF) return `${DIRECTORY}/.agent-conversations-migrated`;
  return shardFileOf(keyOfRef(ref));
}

/** The file of a conversation; its name is a digest, for a key may hold anything. */
export function shardFileOf(conversationKey: string): string {
  return `${DIRECTORY}/agent-conversations.${fileDigestOf(conversationKey)}.json`;
}

export async function render(tables: TableReader, ref: string): Promise<string | undefined> {
  if (ref === CLEARED_REF) return renderClearedList(tables);
  if (ref === MIGRATED_REF) return renderMigrated(tables);
  return renderShard(tables, keyOfRef(ref));
}

function keyOfRef(ref: string): string {
  assert(ref.startsWith(SHARD_REF), `a file of the conversations: ${ref}`);
  return ref.slice(SHARD_REF.length);
}

async function renderShard(tables: TableReader, conversationKey: string): Promise<string | undefined> {
  const document = await documentOf(tables, conversationKey);
  if (document === undefined) return undefined;
  const rows: string[] = [];
  for await (const { role, content } of messagesOf(tables, document.document)) {
    rows.push(JSON.stringify({ role, content }));
  }
  return `{"conversations":{${JSON.stringify(conversationKey)}:[${rows.join(',')}]}}`;
}

/** Once there was a list it stays, as an empty one where nothing is on it any more. */
async function renderClearedList(tables: TableReader): Promise<string | undefined> {
  if ((await wasEverCleared(tables)) !== true) return undefined;
  const keys: string[] = [];
  for await (const conversationKey of clearedInOrder(tables)) keys.push(conversationKey);
  return JSON.stringify(keys);
}

async function renderMigrated(tables: TableReader): Promise<string | undefined> {
  const migratedAt = await tables.get<number>(MARKS, MIGRATED_AT);
  if (migratedAt === undefined) return undefined;
  return JSON.stringify({ migratedAt: new Date(migratedAt).toISOString(), legacyFile: LEGACY_FILE });
}
