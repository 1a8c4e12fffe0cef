import { streamOf } from '@turnlog/events';
import { getSession, listConversations, loadConversation, refusalOfAlias } from '@turnlog/projections';
import { appendFor } from '../commands/commands.ts';
import { newEvent, type Service } from '../service.ts';
import { replay } from './conversation-replay.ts';
import { conversationThen } from './conversation-then.ts';
import type { Handlers } from './dispatcher.ts';
import { conversationNotFound } from './refusals.ts';

type ConversationHandlers = Pick<
  Handlers,
  | 'conversation.list'
  | 'conversation.load'
  | 'conversation.replay'
  | 'conversation.clear'
  | 'conversation.alias'
  | 'session.get'
>;

export function conversationHandlers(service: Service): ConversationHandlers {
  const { log, projections, streams } = service;
  return {
    'conversation.list': async (query) => {
      const { value } = await projections.read('conversations', (tables) => listConversations(tables, query));
      return value;
    },

    'conversation.load': async ({ conversationKey, at }) => {
      if (at !== undefined) return await conversationThen(log, conversationKey, at);
      const { value, seq } = await projections.read('conversations', (tables) =>
        loadConversation(tables, conversationKey),
      );
      if (value === undefined) throw conversationNotFound(conversationKey);
      return { messages: value.messages, seq };
    },

    'conversation.replay': (query) => replay(log, query),

    'conversation.clear': async ({ conversationKey }, { command }) => {
      const stream = streamOf.conversation(conversationKey);
      // Logged also where it was cleared before: a session may have come about since, which ends with it.
      return await streams.run(stream, async () => {
        const event = newEvent('conversation_cleared', { conversationKey, reason: 'requested' });
        const { seq } = await appendFor(log, stream, [event], command && { command, answer: {} });
        return { seq };
      });
    },

    'conversation.alias': async ({ from, to }, { command }) => {
      const stream = streamOf.conversation(to);
      // The source is held as well: what is answered is what is copied.
      return await streams.runAll([stream, streamOf.conversation(from)], async () => {
        const { value: reason, seq } = await projections.read('conversations', (tables) =>
          refusalOfAlias(tables, from, to),
        );
        if (reason !== undefined) return { seq, aliased: false, reason };
        const event = newEvent('conversation_aliased', { from, to });
        const answer = { aliased: true };
        const { seq: end } = await appendFor(log, stream, [event], command && { command, answer });
        return { seq: end, ...answer };
      });
    },

    'session.get': async ({ sessionKey }) => {
      const { value } = await projections.read('sessions', (tables) => getSession(tables, sessionKey));
      return value;
    },
  };
}
