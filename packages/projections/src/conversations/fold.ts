import { type CommittedEvent, conversationKeyOf } from '@turnlog/events';
import type { Projection, TableWriter } from '../engine/projection.ts';
import { collapseShard } from './collapse.ts';
import { aliasConversation, appendPacket, clearConversation, importConversation } from './lifecycle.ts';
import { bridgeHasGone, bridgeIsPresent } from './present-bridges.ts';
import { fileOf, MIGRATED_REF, render } from './render.ts';
import { MARKS, MIGRATED_AT } from './tables.ts';
import { addLatePrompt, gatherOutput, settleTurn, startTurn } from './turns.ts';

/**
 * The replay shards: what the user wrote, without what was put before it, and what the agent answered. Not
 * what it thought and not its tools, for those are no part of a replay.
 */
export const conversations: Projection = { name: 'conversations', version: 1, evolve, fileOf, render };

async function evolve(tables: TableWriter, event: CommittedEvent): Promise<void> {
  switch (event.type) {
    case 'conversation_cleared':
      return clearConversation(tables, event.data.conversationKey, event.seq);
    case 'session_reset': {
      const { conversationKey } = event.data;
      return conversationKey === undefined
        ? undefined
        : clearConversation(tables, conversationKey, event.seq);
    }
    case 'conversation_imported':
      return importConversation(tables, event);
    case 'conversation_aliased':
      return aliasConversation(tables, event);
    case 'migration_completed':
      return noteMigration(tables, event.at);
    default: {
      const conversationKey = conversationKeyOf(event.stream);
      return conversationKey === undefined ? undefined : evolveOne(tables, conversationKey, event);
    }
  }
}

/** What happens on a bridge belongs to the conversation in whose stream it is. */
async function evolveOne(tables: TableWriter, conversationKey: string, event: CommittedEvent): Promise<void> {
  switch (event.type) {
    case 'bridge_requested':
      return bridgeIsPresent(tables, conversationKey, event.data.bridgeId);
    case 'turn_started':
      return startTurn(tables, conversationKey, event);
    case 'prompt_queued':
      return addLatePrompt(tables, conversationKey, event);
    case 'turn_output':
      return gatherOutput(tables, conversationKey, event);
    case 'turn_ended':
    case 'turn_interrupted':
      return settleTurn(tables, conversationKey, event);
    case 'compaction_completed':
      return collapseShard(tables, conversationKey, event);
    case 'handoff_completed':
      return appendPacket(tables, conversationKey, event);
    case 'bridge_stopped':
      return bridgeHasGone(tables, conversationKey, event.data.bridgeId);
  }
}

/** The first time stays: from then on no legacy file is looked at any more. */
async function noteMigration(tables: TableWriter, at: number): Promise<void> {
  if ((await tables.get(MARKS, MIGRATED_AT)) !== undefined) return;
  tables.put(MARKS, MIGRATED_AT, at);
  tables.markDirty(MIGRATED_REF);
}
