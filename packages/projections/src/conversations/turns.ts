/*
 * The turns of a conversation. What a turn costs does not depend on how long the conversation is: its two
 * rows are reserved as it begins, its output is kept in rows of its own whose number the record holds, and
 * its end reads those and nothing else.
 */
import { assert, type CommittedEvent, type Message } from '@turnlog/events';
import type { TableWriter } from '../engine/projection.ts';
import { openDocument } from './lifecycle.ts';
import { bridgeIsPresent } from './present-bridges.ts';
import {
  type ConversationDocument,
  DOCUMENTS,
  documentOf,
  keyIn,
  MESSAGES,
  markShardDirty,
  OUTPUTS,
  outputKey,
  TURNS,
  type TurnRecord,
  turnKey,
} from './tables.ts';

type Event<Type extends CommittedEvent['type']> = Extract<CommittedEvent, { type: Type }>;

const ROWS_OF_TURN = 2;

export async function startTurn(
  tables: TableWriter,
  conversationKey: string,
  event: Event<'turn_started'>,
): Promise<void> {
  const { bridgeId, turnId, prompt, provider } = event.data;
  const document = await openDocument(tables, conversationKey, event);
  await bridgeIsPresent(tables, conversationKey, bridgeId);
  const userRow = document.nextRow;
  const turn: TurnRecord = { bridgeId, turnId, userRow, state: 'open', outputs: 0 };
  tables.put(TURNS, turnKey(document.document, turn), turn);
  if (prompt !== undefined) putMessage(tables, document, userRow, { role: 'user', content: prompt });
  tables.put(DOCUMENTS, conversationKey, {
    ...document,
    nextRow: userRow + ROWS_OF_TURN,
    messages: document.messages + (prompt === undefined ? 0 : 1),
    updatedAt: event.at,
    provider,
  });
  markShardDirty(tables, conversationKey);
}

/** A prompt that is told of only after its turn began, or ended. */
export async function addLatePrompt(
  tables: TableWriter,
  conversationKey: string,
  event: Event<'prompt_queued'>,
): Promise<void> {
  const { bridgeId, turnId, text } = event.data;
  if (turnId === undefined) return;
  const found = await findTurn(tables, conversationKey, { bridgeId, turnId });
  if (found === undefined) return;
  const { document, turn } = found;
  if ((await tables.get(MESSAGES, keyIn(document.document, turn.userRow))) !== undefined) return;
  putMessage(tables, document, turn.userRow, { role: 'user', content: text });
  tables.put(DOCUMENTS, conversationKey, {
    ...document,
    messages: document.messages + 1,
    updatedAt: event.at,
  });
  markShardDirty(tables, conversationKey);
}

/** Output waits in rows of its own; that of an interrupted turn may still be completed by a late end. */
export async function gatherOutput(
  tables: TableWriter,
  conversationKey: string,
  event: Event<'turn_output'>,
): Promise<void> {
  const { text } = event.data;
  if (text === undefined || text === '') return;
  const found = await findTurn(tables, conversationKey, event.data);
  if (found === undefined || found.turn.state === 'ended') return;
  const { document, turn } = found;
  tables.put(OUTPUTS, outputKey(document.document, turn.userRow, turn.outputs), text);
  tables.put(TURNS, turnKey(document.document, turn), { ...turn, outputs: turn.outputs + 1 });
}

/** Writes the answer, as far as it came: a turn that ends after its interruption completes its row. */
export async function settleTurn(
  tables: TableWriter,
  conversationKey: string,
  event: Event<'turn_ended' | 'turn_interrupted'>,
): Promise<void> {
  const found = await findTurn(tables, conversationKey, event.data);
  if (found === undefined || found.turn.state === 'ended') return;
  const { document, turn } = found;
  const gathered = await takeOutputs(tables, document, turn);
  const row = turn.userRow + 1;
  const before = await tables.get<Message>(MESSAGES, keyIn(document.document, row));
  const { text } = event.data;
  const isWhole = event.type === 'turn_ended' && event.data.whole === true && text !== undefined;
  const content = isWhole ? text : (before?.content ?? '') + gathered + (text ?? '');

  const state = event.type === 'turn_ended' ? 'ended' : 'interrupted';
  tables.put(TURNS, turnKey(document.document, turn), { ...turn, state, outputs: 0 });
  if (content === (before?.content ?? '')) return;
  if (content === '') tables.delete(MESSAGES, keyIn(document.document, row));
  else putMessage(tables, document, row, { role: 'assistant', content });
  tables.put(DOCUMENTS, conversationKey, {
    ...document,
    messages: document.messages + (content === '' ? 0 : 1) - (before === undefined ? 0 : 1),
    // An interruption is no activity: a restart must not make old conversations look new.
    updatedAt: state === 'ended' ? event.at : document.updatedAt,
  });
  markShardDirty(tables, conversationKey);
}

/** The output that waits, which belongs to a row from now on. */
export async function takeOutputs(
  tables: TableWriter,
  { document }: ConversationDocument,
  turn: TurnRecord,
): Promise<string> {
  const texts: string[] = [];
  for (let index = 0; index < turn.outputs; index += 1) {
    const key = outputKey(document, turn.userRow, index);
    const text = await tables.get<string>(OUTPUTS, key);
    assert(text !== undefined, 'a turn counts its output');
    texts.push(text);
    tables.delete(OUTPUTS, key);
  }
  return texts.join('');
}

async function findTurn(
  tables: TableWriter,
  conversationKey: string,
  ids: { bridgeId: string; turnId: string },
): Promise<{ document: ConversationDocument; turn: TurnRecord } | undefined> {
  const document = await documentOf(tables, conversationKey);
  if (document === undefined) return undefined;
  const turn = await tables.get<TurnRecord>(TURNS, turnKey(document.document, ids));
  return turn === undefined ? undefined : { document, turn };
}

function putMessage(
  tables: TableWriter,
  { document }: ConversationDocument,
  row: number,
  message: Message,
): void {
  tables.put(MESSAGES, keyIn(document, row), message);
}
