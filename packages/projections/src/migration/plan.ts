// What is to be brought into the log, decided without looking at the log.
import { assert } from '@turnlog/events';
import {
  clearedItem,
  conversationItem,
  MIGRATION_SOURCE,
  type MigrationItem,
  sessionItem,
  sha256,
  transcriptItem,
} from './items.ts';
import type { ClearedList, StoredConversation, UserData, UserDataProblem } from './user-data.ts';

/** A conversation that is there and must not come in. */
export interface ConversationSetAside {
  conversationKey: string;
  reason: string;
}

export interface MigrationPlan {
  source: string;
  /** Names everything to bring in, so that the same source is recognized again. */
  fingerprint: string;
  /** In the order in which they go into the log: what was cleared comes first. */
  items: MigrationItem[];
  problems: UserDataProblem[];
  setAside: {
    conversations: ConversationSetAside[];
    /** Rows that are no messages; they go into the log with their conversation. */
    rows: { conversationKey: string; count: number }[];
  };
  /** Conversations that have no shard that can be read and come from the monolith. */
  fromMonolith: string[];
  /** Why the source will not be whole in the log even when every item is in. */
  incomplete: string[];
  counts: MigrationCounts;
}

/** What there is to bring in. */
export type MigrationCounts = Record<
  'cleared' | 'conversations' | 'messages' | 'sessions' | 'transcripts' | 'rows',
  number
>;

/** Decides what of a user-data directory goes into the log. Pure. */
export function planMigration(userData: UserData): MigrationPlan {
  const shards = new Map(userData.shards.map((shard) => [shard.conversationKey, shard]));
  const monolith = new Map(userData.monolith.map((stored) => [stored.conversationKey, stored]));
  const known = new Set([...monolith.keys(), ...shards.keys()]);
  const cleared = clearedKeys(userData.cleared, known);

  const conversations: StoredConversation[] = [];
  const setAside: ConversationSetAside[] = [];
  const fromMonolith: string[] = [];
  for (const key of known) {
    if (cleared.has(key)) continue;
    const shard = shards.get(key);
    const stored = shard ?? monolith.get(key);
    assert(stored !== undefined, 'a known conversation is in a shard or in the monolith');
    if (shard === undefined && userData.cleared.unknownEntry) {
      const reason =
        'only in agent-conversations.json, and the cleared list does not tell whether it was cleared';
      setAside.push({ conversationKey: key, reason });
      continue;
    }
    if (shard === undefined) fromMonolith.push(key);
    conversations.push(stored);
  }

  const items: MigrationItem[] = [
    ...[...cleared].map(([key, torn]) => clearedItem(key, torn)),
    ...conversations.map(conversationItem),
    ...userData.sessions.map(sessionItem),
    ...userData.transcripts.map(transcriptItem),
  ];

  return {
    source: MIGRATION_SOURCE,
    fingerprint: fingerprintOf(items),
    items,
    problems: userData.problems,
    setAside: {
      conversations: setAside,
      rows: conversations
        .filter((stored) => stored.setAside.length > 0)
        .map((stored) => ({ conversationKey: stored.conversationKey, count: stored.setAside.length })),
    },
    fromMonolith,
    incomplete: incompleteBecause(userData, setAside),
    counts: {
      cleared: cleared.size,
      conversations: conversations.length,
      messages: conversations.reduce((sum, stored) => sum + stored.messages.length, 0),
      sessions: userData.sessions.length,
      transcripts: userData.transcripts.length,
      rows: userData.transcripts.reduce((sum, { rows }) => sum + rows.length, 0),
    },
  };
}

/** Every key that counts as cleared, with the cut entry that covers it where it is not in the list whole. */
function clearedKeys(list: ClearedList, known: Iterable<string>): Map<string, string | undefined> {
  const cleared = new Map<string, string | undefined>(list.keys.map((key) => [key, undefined]));
  const { cut } = list;
  if (cut === undefined) return cleared;
  assert(cut !== '', 'a cut entry has a beginning');
  for (const key of known) if (!cleared.has(key) && key.startsWith(cut)) cleared.set(key, cut);
  return cleared;
}

function incompleteBecause(userData: UserData, setAside: ConversationSetAside[]): string[] {
  const reasons = userData.unread.map((file) => `${file} could not be read`);
  if (setAside.length > 0) reasons.push(`${setAside.length} conversations were set aside`);
  return reasons;
}

function fingerprintOf(items: readonly MigrationItem[]): string {
  return sha256(JSON.stringify([MIGRATION_SOURCE, items.map(({ event }) => event.id).sort()]));
}
