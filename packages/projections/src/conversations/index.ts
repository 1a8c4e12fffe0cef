export { isCleared } from './cleared-list.ts';
export { CONTINUE_TEXT } from './collapse.ts';
export { conversationAt, type EventsOfStream } from './conversation-at.ts';
export { conversations } from './fold.ts';
export { refusalOfAlias } from './lifecycle.ts';
export {
  CONVERSATIONS_PER_PAGE,
  CONVERSATIONS_PER_PAGE_MAX,
  type ConversationQuery,
  type ConversationSummary,
  listConversations,
  loadConversation,
} from './reads.ts';
export { shardFileOf } from './render.ts';
