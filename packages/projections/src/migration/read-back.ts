import type { JsonText, Message, UsageSnapshot } from '@turnlog/events';
import type { MigrationItem } from './plan.ts';
import type { MigrationTarget, SessionRecord } from './target.ts';

/** What the target says of what an item is about, compared with the item. */
export type Found = 'nothing' | 'equal' | 'other';

/** Reads what the target holds in the place of an item. */
export async function readBack(target: MigrationTarget, item: MigrationItem): Promise<Found> {
  switch (item.kind) {
    case 'cleared': {
      if (await target.isCleared(item.key)) return 'equal';
      return (await target.loadConversation(item.key)) === undefined ? 'nothing' : 'other';
    }
    case 'conversation': {
      if (await target.isCleared(item.key)) return 'other';
      const found = await target.loadConversation(item.key);
      if (found === undefined) return 'nothing';
      return areMessagesEqual(found, item.event.data.messages) ? 'equal' : 'other';
    }
    case 'session': {
      const found = await target.getSession(item.key);
      if (found.sessionId === undefined && found.usage === undefined) return 'nothing';
      return isSessionEqual(found, item.event.data) ? 'equal' : 'other';
    }
    case 'transcript': {
      const found = await target.loadTranscript(item.key);
      if (found === undefined) return 'nothing';
      const rows = item.event.data.rows.map(({ row }) => row);
      return areRowsEqual(found, rows) ? 'equal' : 'other';
    }
  }
}

function areMessagesEqual(found: readonly Message[], expected: readonly Message[]): boolean {
  return (
    found.length === expected.length &&
    found.every(({ role, content }, place) => {
      const other = expected[place];
      return other !== undefined && role === other.role && content === other.content;
    })
  );
}

function isSessionEqual(found: SessionRecord, expected: SessionRecord): boolean {
  return found.sessionId === expected.sessionId && isUsageEqual(found.usage, expected.usage);
}

function isUsageEqual(found: UsageSnapshot | undefined, expected: UsageSnapshot | undefined): boolean {
  return (
    found?.contextTokens === expected?.contextTokens &&
    found?.contextWindow === expected?.contextWindow &&
    found?.model === expected?.model
  );
}

function areRowsEqual(found: readonly JsonText[], expected: readonly JsonText[]): boolean {
  return found.length === expected.length && found.every((row, place) => row.text === expected[place]?.text);
}
