import type { Message } from '@turnlog/events';
import type { TableReader } from '../engine/projection.ts';
import { isCleared } from './cleared-list.ts';
import { type ConversationDocument, DOCUMENTS, documentOf, messagesOf } from './tables.ts';

/** How many conversations one answer holds unless told, and at most. */
export const CONVERSATIONS_PER_PAGE = 100;
export const CONVERSATIONS_PER_PAGE_MAX = 1_000;
/** How many conversations are looked at for one answer; the next one goes on from there. */
export const CONVERSATIONS_EXAMINED_MAX = 10_000;

export interface ConversationSummary {
  conversationKey: string;
  /** How many messages it holds. */
  messages: number;
  /** In milliseconds since 1970. */
  updatedAt: number;
  /** Of the bridge that last began a turn. */
  provider?: string;
}

export interface ConversationQuery {
  /** Only keys that begin with this. */
  prefix?: string | undefined;
  provider?: string | undefined;
  /** Only conversations with a message that holds this, whatever its case. */
  text?: string | undefined;
  /** Only keys after this one: the `next` of the answer before. */
  after?: string | undefined;
  limit?: number | undefined;
}

/** The messages of a conversation: none of a cleared one, undefined where nothing is known of it. */
export async function loadConversation(
  tables: TableReader,
  conversationKey: string,
): Promise<{ messages: Message[] } | undefined> {
  const document = await documentOf(tables, conversationKey);
  if (document === undefined) {
    return (await isCleared(tables, conversationKey)) ? { messages: [] } : undefined;
  }
  const messages: Message[] = [];
  for await (const { role, content } of messagesOf(tables, document.document))
    messages.push({ role, content });
  return { messages };
}

/**
 * Conversations in the order of their keys. An answer may hold fewer than `limit` and still have a `next`,
 * where much had to be looked at.
 */
export async function listConversations(
  tables: TableReader,
  query: ConversationQuery = {},
): Promise<{ conversations: ConversationSummary[]; next?: string }> {
  const { prefix = '', after, provider } = query;
  const limit = Math.min(query.limit ?? CONVERSATIONS_PER_PAGE, CONVERSATIONS_PER_PAGE_MAX);
  const text = query.text?.toLowerCase() ?? '';
  const range = { prefix, limit: CONVERSATIONS_EXAMINED_MAX + 1, ...(after !== undefined && { after }) };

  const conversations: ConversationSummary[] = [];
  let last: string | undefined;
  let examined = 0;
  for await (const [conversationKey, document] of tables.range<ConversationDocument>(DOCUMENTS, range)) {
    const isFull = conversations.length >= limit || examined >= CONVERSATIONS_EXAMINED_MAX;
    if (isFull && last !== undefined) return { conversations, next: last };
    last = conversationKey;
    examined += 1;
    if (provider !== undefined && document.provider !== provider) continue;
    if (text !== '' && !(await holdsText(tables, document.document, text))) continue;
    conversations.push(summaryOf(conversationKey, document));
  }
  return { conversations };
}

function summaryOf(conversationKey: string, document: ConversationDocument): ConversationSummary {
  const { messages, updatedAt, provider } = document;
  return { conversationKey, messages, updatedAt, ...(provider !== undefined && { provider }) };
}

async function holdsText(tables: TableReader, document: number, text: string): Promise<boolean> {
  for await (const { content } of messagesOf(tables, document)) {
    if (content.toLowerCase().includes(text)) return true;
  }
  return false;
}
