import { type EventData, streamOf } from '@turnlog/events';
import { FoldBench } from '../testing/fold-bench.ts';
import { conversations } from './fold.ts';
import { loadConversation } from './reads.ts';

export const KEY = 'thread:one';

/** The projection of conversations, with short words for what happens to them. */
export class ConversationBench extends FoldBench {
  constructor() {
    super(conversations);
  }

  /** @param turn its turnId, with its bridge before a slash where that is not `b` */
  start(turn: string, prompt?: string, key = KEY) {
    const data = { ...ofTurn(turn), purpose: 'prompt' as const, injected: 'none' as const };
    return this.take(streamOf.conversation(key), 'turn_started', {
      ...data,
      ...(prompt !== undefined && { prompt }),
    });
  }

  output(turn: string, text: string, key = KEY) {
    return this.take(streamOf.conversation(key), 'turn_output', { ...ofTurn(turn), text });
  }

  end(turn: string, data: Partial<EventData<'turn_ended'>> = {}, key = KEY) {
    return this.take(streamOf.conversation(key), 'turn_ended', { ...ofTurn(turn), ...data });
  }

  interrupt(turn: string, data: Partial<EventData<'turn_interrupted'>> = {}, key = KEY) {
    return this.take(streamOf.conversation(key), 'turn_interrupted', {
      ...ofTurn(turn),
      reason: 'restart',
      ...data,
    });
  }

  /** A whole turn: what the user wrote and what was answered. */
  async turn(turn: string, prompt: string, answer: string, key = KEY): Promise<void> {
    await this.start(turn, prompt, key);
    await this.end(turn, { text: answer }, key);
  }

  clear(key = KEY) {
    return this.take(streamOf.conversation(key), 'conversation_cleared', {
      conversationKey: key,
      reason: 'requested',
    });
  }

  compact(summary?: string, keptFrom?: string, bridgeId = 'b') {
    return this.take(streamOf.conversation(KEY), 'compaction_completed', {
      bridgeId,
      provider: 'crewcoder',
      automatic: false,
      source: 'native',
      ...(summary !== undefined && { summary }),
      ...(keptFrom !== undefined && { keptFromTurnId: keptFrom }),
    });
  }

  import(key: string, ...messages: string[]) {
    return this.take(streamOf.conversation(key), 'conversation_imported', {
      conversationKey: key,
      source: 'crewcode',
      messages: messages.map((content, place) => ({ role: place % 2 === 0 ? 'user' : 'assistant', content })),
    });
  }

  alias(from: string, to: string) {
    return this.take(streamOf.conversation(to), 'conversation_aliased', { from, to });
  }

  /** The messages, each with `>` before what the user wrote and `<` before an answer. */
  async shown(key = KEY): Promise<string[] | undefined> {
    const loaded = await loadConversation(this.tables, key);
    return loaded?.messages.map(({ role, content }) => (role === 'user' ? '>' : '<') + content);
  }
}

function ofTurn(turn: string): { bridgeId: string; turnId: string; provider: string } {
  const [bridgeId, turnId] = turn.includes('/') ? (turn.split('/') as [string, string]) : ['b', turn];
  return { bridgeId, turnId, provider: 'codex' };
}
