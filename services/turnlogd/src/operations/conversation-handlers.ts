import { streamOf } from '@turnlog/events';
import { getSession, isCleared, listConversations, loadConversation } from '@turnlog/projections';
import { newEvent, type Service } from '../service.ts';
import { conversationThen } from './conversation-then.ts';
import type { Handlers } from './dispatcher.ts';
import { conversationNotFound } from './refusals.ts';

type ConversationHandlers = Pick<
  Handlers,
  'conversation.list' | 'conversation.load' | 'conversation.clear' | 'conversation.alias' | 'session.get'
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

    'conversation.clear': async ({ conversationKey }) => {
      const stream = streamOf.conversation(conversationKey);
      return await streams.run(stream, async () => {
        const { value: cleared, seq } = await projections.read('conversations', (tables) =>
          isCleared(tables, conversationKey),
        );
        if (cleared) return { seq };
        const appended = await log.append(stream, [
          newEvent('conversation_cleared', { conversationKey, reason: 'requested' }),
        ]);
        return { seq: appended.seq };
      });
    },

    'conversation.alias': async ({ from, to }) => {
      const stream = streamOf.conversation(to);
      return await streams.run(stream, async () => {
        const { value: reason, seq } = await projections.read('conversations', async (tables) => {
          if (await isCleared(tables, to)) return 'cleared' as const;
          if ((await loadConversation(tables, to)) !== undefined) return 'exists' as const;
          return (await loadConversation(tables, from)) === undefined ? ('no_source' as const) : undefined;
        });
        if (reason !== undefined) return { seq, aliased: false, reason };
        const appended = await log.append(stream, [newEvent('conversation_aliased', { from, to })]);
        return { seq: appended.seq, aliased: true };
      });
    },

    'session.get': async ({ sessionKey }) => {
      const { value } = await projections.read('sessions', (tables) => getSession(tables, sessionKey));
      return value;
    },
  };
}
