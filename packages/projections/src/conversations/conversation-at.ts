import { type CommittedEvent, type Message, streamOf } from '@turnlog/events';
import { MemoryTables } from '../engine/memory-tables.ts';
import { isCleared } from './cleared-list.ts';
import { conversations } from './fold.ts';
import { loadConversation } from './reads.ts';
import { documentOf } from './tables.ts';

/** The events of a stream in their order, up to and with a seq. */
export type EventsOfStream = (stream: string, throughSeq: number) => AsyncIterable<CommittedEvent>;

/**
 * A conversation as it was when the log ended at `seq`, folded from its own stream. Where an alias brought
 * its messages, the stream of its source is folded up to there as well.
 * @returns undefined where nothing was known of it then
 */
export async function conversationAt(
  eventsOf: EventsOfStream,
  conversationKey: string,
  seq: number,
): Promise<{ messages: Message[] } | undefined> {
  return loadConversation(await tablesAt(eventsOf, conversationKey, seq), conversationKey);
}

async function tablesAt(
  eventsOf: EventsOfStream,
  conversationKey: string,
  throughSeq: number,
): Promise<MemoryTables> {
  const tables = new MemoryTables();
  for await (const event of eventsOf(streamOf.conversation(conversationKey), throughSeq)) {
    if (event.seq > throughSeq) break;
    await conversations.evolve(tables, await withSource(eventsOf, tables, event));
  }
  return tables;
}

/**
 * An alias as an import of what its source held. Each one looks at an earlier part of the log, and only one
 * that takes effect looks at all, so that aliases in a circle come to an end.
 */
async function withSource(
  eventsOf: EventsOfStream,
  tables: MemoryTables,
  event: CommittedEvent,
): Promise<CommittedEvent> {
  if (event.type !== 'conversation_aliased') return event;
  const { from, to } = event.data;
  if ((await documentOf(tables, to)) !== undefined || (await isCleared(tables, to))) return event;
  const source = await tablesAt(eventsOf, from, event.seq - 1);
  if ((await documentOf(source, from)) === undefined) return event;
  const { messages } = (await loadConversation(source, from)) ?? { messages: [] };
  const data = { conversationKey: to, source: 'alias', messages };
  return { ...event, type: 'conversation_imported', data };
}
