/*
 * A compaction that tells its summary: the shard becomes the summary, followed by the turns that were kept.
 * Row numbers stay as they are. The summary has rows of its own before all others, and what it stands for
 * goes; a second compaction therefore keeps what the first one kept without looking at the first. A turn
 * that is open keeps its reserved rows and completes after the summary. What was interrupted and is told of
 * by the summary has no place any more for a late end.
 */
import { assert, type CommittedEvent } from '@turnlog/events';
import { numberKey, type TableWriter } from '../engine/projection.ts';
import { isStaleBridge } from './present-bridges.ts';
import {
  type ConversationDocument,
  DOCUMENTS,
  documentOf,
  keyIn,
  MESSAGES,
  markShardDirty,
  SUMMARY_ROWS,
  TURNS,
  type TurnRecord,
  turnKey,
} from './tables.ts';
import { takeOutputs } from './turns.ts';

type Compaction = Extract<CommittedEvent, { type: 'compaction_completed' }>;

/** What stands before a summary, so that a provider that gets it knows what to do with it. */
export const CONTINUE_TEXT = 'The conversation so far was compacted. Continue from the summary that follows.';

export async function collapseShard(
  tables: TableWriter,
  conversationKey: string,
  event: Compaction,
): Promise<void> {
  const { summary, bridgeId } = event.data;
  if (summary === undefined || summary === '') return;
  const document = await documentOf(tables, conversationKey);
  if (document === undefined || (await isStaleBridge(tables, conversationKey, bridgeId))) return;

  const turns = await turnsOf(tables, document);
  const keptRow = firstKeptRow(turns, event.data) ?? document.nextRow;
  assert(keptRow >= SUMMARY_ROWS, 'the summary has rows of its own');
  for (const turn of turns) {
    if (turn.userRow >= keptRow || turn.state === 'open') continue;
    await takeOutputs(tables, document, turn);
    tables.delete(TURNS, turnKey(document.document, turn));
  }
  const gone = await removeMessagesBefore(tables, document, keptRow);
  tables.put(MESSAGES, keyIn(document.document, 0), { role: 'user', content: CONTINUE_TEXT });
  tables.put(MESSAGES, keyIn(document.document, 1), { role: 'assistant', content: summary });
  tables.put(DOCUMENTS, conversationKey, {
    ...document,
    messages: document.messages - gone + SUMMARY_ROWS,
    updatedAt: event.at,
  });
  markShardDirty(tables, conversationKey);
}

async function turnsOf(tables: TableWriter, { document }: ConversationDocument): Promise<TurnRecord[]> {
  const turns: TurnRecord[] = [];
  for await (const [, turn] of tables.range<TurnRecord>(TURNS, { prefix: numberKey(document) })) {
    turns.push(turn);
  }
  return turns;
}

/** The turn is meant to be one of the bridge that compacts; a conversation may have changed bridges since. */
function firstKeptRow(
  turns: readonly TurnRecord[],
  { bridgeId, keptFromTurnId }: Compaction['data'],
): number | undefined {
  const named = turns.filter((turn) => turn.turnId === keptFromTurnId);
  const own = named.find((turn) => turn.bridgeId === bridgeId);
  if (own !== undefined) return own.userRow;
  return named.length === 0 ? undefined : Math.max(...named.map((turn) => turn.userRow));
}

async function removeMessagesBefore(
  tables: TableWriter,
  { document }: ConversationDocument,
  row: number,
): Promise<number> {
  const keys: string[] = [];
  const end = keyIn(document, row);
  for await (const [key] of tables.range(MESSAGES, { prefix: numberKey(document) })) {
    if (key >= end) break;
    keys.push(key);
  }
  for (const key of keys) tables.delete(MESSAGES, key);
  return keys.length;
}
