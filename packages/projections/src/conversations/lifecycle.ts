/*
 * How a conversation comes to be and ends. A clear takes the document and every record of its turns, so
 * that what is late of a turn begun before the clear finds no place: nothing needs to be remembered of it.
 */
import { assert, type CommittedEvent, type Message } from '@turnlog/events';
import { numberKey, type TableReader, type TableWriter } from '../engine/projection.ts';
import { isCleared, putOnClearedList, takeOffClearedList } from './cleared-list.ts';
import { makeBridgesStale } from './present-bridges.ts';
import {
  type ConversationDocument,
  DOCUMENTS,
  documentOf,
  keyIn,
  MESSAGES,
  markShardDirty,
  messagesOf,
  newDocument,
  OUTPUTS,
  TURNS,
} from './tables.ts';

type Event<Type extends CommittedEvent['type']> = Extract<CommittedEvent, { type: Type }>;

/** The document that a new turn or packet goes into. What was cleared is live again with it. */
export async function openDocument(
  tables: TableWriter,
  conversationKey: string,
  event: Pick<CommittedEvent, 'seq' | 'at'>,
): Promise<ConversationDocument> {
  const document = await documentOf(tables, conversationKey);
  if (document !== undefined) return document;
  await takeOffClearedList(tables, conversationKey);
  return newDocument(event.seq, event.at);
}

export async function clearConversation(
  tables: TableWriter,
  conversationKey: string,
  seq: number,
): Promise<void> {
  const document = await documentOf(tables, conversationKey);
  await putOnClearedList(tables, conversationKey, seq);
  await makeBridgesStale(tables, conversationKey);
  if (document === undefined) return;
  const prefix = numberKey(document.document);
  await tables.deleteRange(MESSAGES, prefix);
  await tables.deleteRange(TURNS, prefix);
  await tables.deleteRange(OUTPUTS, prefix);
  tables.delete(DOCUMENTS, conversationKey);
  markShardDirty(tables, conversationKey);
}

/** An import brings only what is missing: a conversation that is there or was cleared stays as it is. */
export async function importConversation(
  tables: TableWriter,
  event: Event<'conversation_imported'>,
): Promise<void> {
  const { conversationKey, messages } = event.data;
  if (!(await isMissing(tables, conversationKey))) return;
  fillDocument(tables, conversationKey, newDocument(event.seq, event.at), messages);
}

/** Why an alias copies nothing; undefined where it does. */
export async function refusalOfAlias(
  tables: TableReader,
  from: string,
  to: string,
): Promise<'cleared' | 'exists' | 'no_source' | undefined> {
  if (await isCleared(tables, to)) return 'cleared';
  if ((await documentOf(tables, to)) !== undefined) return 'exists';
  return (await documentOf(tables, from)) === undefined ? 'no_source' : undefined;
}

/** An alias copies; the source stays, and a target that is there or was cleared stays as it is. */
export async function aliasConversation(
  tables: TableWriter,
  event: Event<'conversation_aliased'>,
): Promise<void> {
  const { from, to } = event.data;
  const source = await documentOf(tables, from);
  if (source === undefined || (await refusalOfAlias(tables, from, to)) !== undefined) return;
  const messages: Message[] = [];
  for await (const message of messagesOf(tables, source.document)) messages.push(message);
  assert(messages.length === source.messages, 'a document counts its messages');
  const { provider } = source;
  const copy = { ...newDocument(event.seq, event.at), ...(provider !== undefined && { provider }) };
  fillDocument(tables, to, copy, messages);
}

/** A packet comes as something that the user said. */
export async function appendPacket(
  tables: TableWriter,
  conversationKey: string,
  event: Event<'handoff_completed'>,
): Promise<void> {
  const document = await openDocument(tables, conversationKey, event);
  const { packet, provider } = event.data;
  fillDocument(tables, conversationKey, { ...document, provider, updatedAt: event.at }, [
    { role: 'user', content: packet },
  ]);
}

async function isMissing(tables: TableWriter, conversationKey: string): Promise<boolean> {
  if ((await documentOf(tables, conversationKey)) !== undefined) return false;
  return !(await isCleared(tables, conversationKey));
}

/** Puts messages after what a document holds. */
function fillDocument(
  tables: TableWriter,
  conversationKey: string,
  document: ConversationDocument,
  messages: readonly Message[],
): void {
  let row = document.nextRow;
  for (const { role, content } of messages) {
    tables.put(MESSAGES, keyIn(document.document, row), { role, content });
    row += 1;
  }
  const count = document.messages + messages.length;
  tables.put(DOCUMENTS, conversationKey, { ...document, nextRow: row, messages: count });
  markShardDirty(tables, conversationKey);
}
