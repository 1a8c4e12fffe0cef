import type { Message } from '@turnlog/events';
import { type MaybePromise, numberKey, type TableReader, type TableWriter } from '../engine/projection.ts';

// The tables of the conversations. A document is one life of a conversation, from the event that brought
// it about to the clear that ends it; it is named by the seq of that event, so that the keys of its rows
// are short whatever the conversation is called, and so that nothing of a former life can be found in it.

/** Conversation key → {@link ConversationDocument}. Not there for what is unknown or cleared. */
export const DOCUMENTS = 'conversations';
/** Document and row → Message. */
export const MESSAGES = 'messages';
/** Document and turn → {@link TurnRecord}. */
export const TURNS = 'turns';
/** Document, user row of the turn and index → text that was put out and belongs to no row yet. */
export const OUTPUTS = 'outputs';
/** Conversation key → the bridges that are open for it, and which of them still hold what was cleared. */
export const PRESENT_BRIDGES = 'present_bridges';
/** {@link MIGRATED_AT} and the like → a value of its own. */
export const MARKS = 'marks';
export const MIGRATED_AT = 'migrated_at';

/** The first two rows of every document are kept free for the summary that may come to stand there. */
export const SUMMARY_ROWS = 2;

export interface ConversationDocument {
  /** The seq of the event that it began with. */
  document: number;
  /** The row that the next turn begins with; a row number is never used again. */
  nextRow: number;
  /** How many messages it holds. */
  messages: number;
  /** When it last changed, in milliseconds since 1970, as its event says. */
  updatedAt: number;
  /** Of the bridge that last began a turn or was handed a packet. */
  provider?: string;
}

/** A turn's two rows are reserved as it begins, so that a late end finds its place. */
export interface TurnRecord {
  bridgeId: string;
  turnId: string;
  /** The row of the prompt; the answer's is the next. */
  userRow: number;
  state: 'open' | 'interrupted' | 'ended';
  /** How many rows of output wait for the turn's end. */
  outputs: number;
}

export function newDocument(seq: number, at: number): ConversationDocument {
  return { document: seq, nextRow: SUMMARY_ROWS, messages: 0, updatedAt: at };
}

export function documentOf(
  tables: TableReader,
  conversationKey: string,
): MaybePromise<ConversationDocument | undefined> {
  return tables.get<ConversationDocument>(DOCUMENTS, conversationKey);
}

/** The key of a row of a document. */
export function keyIn(document: number, row: number): string {
  return numberKey(document) + numberKey(row);
}

export function outputKey(document: number, userRow: number, index: number): string {
  return keyIn(document, userRow) + numberKey(index);
}

/** A turnId is unique within its bridge only. The length keeps two pairs of ids from making one key. */
export function turnKey(document: number, turn: { bridgeId: string; turnId: string }): string {
  return `${numberKey(document)}${turn.bridgeId.length}:${turn.bridgeId}${turn.turnId}`;
}

/** The messages of a document in their order. */
export async function* messagesOf(tables: TableReader, document: number): AsyncGenerator<Message> {
  const prefix = numberKey(document);
  for await (const [, message] of tables.range<Message>(MESSAGES, { prefix })) yield message;
}

/** The file of a conversation no longer shows what the tables hold. */
export function markShardDirty(tables: TableWriter, conversationKey: string): void {
  tables.markDirty(`${SHARD_REF}${conversationKey}`);
}

export const SHARD_REF = 'shard:';
