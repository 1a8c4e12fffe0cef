import { type EventData, streamOf, type UsageReport, type UsageSnapshot } from '@turnlog/events';
import { FoldBench } from '../testing/fold-bench.ts';
import { sessions } from './fold.ts';
import { getSession } from './reads.ts';

export const KEY = 'thread:one';
export const SESSION = 'one:codex';

/** Whose report it is: by default bridge `b` of the one conversation, speaking for its codex session. */
export interface Reporter {
  bridgeId?: string;
  provider?: string;
  sessionKey?: string;
  conversationKey?: string;
}

/** The projection of sessions, with short words for what bridges report. */
export class SessionBench extends FoldBench {
  constructor() {
    super(sessions);
  }

  request(by: Reporter = {}) {
    return this.take(streamFor(by), 'bridge_requested', { ...of(by), mode: 'recorded' });
  }

  start(turnId: string, by: Reporter = {}) {
    const turn = { turnId, purpose: 'prompt', injected: 'none' } as const;
    return this.take(streamFor(by), 'turn_started', { ...of(by), ...turn });
  }

  end(turnId: string, usage?: UsageReport, by: Reporter = {}) {
    const data = { ...of(by), turnId, ...(usage !== undefined && { usage }) };
    return this.take(streamFor(by), 'turn_ended', data);
  }

  interrupt(turnId: string, by: Reporter = {}) {
    return this.take(streamFor(by), 'turn_interrupted', { ...of(by), turnId, reason: 'restart' });
  }

  bind(sessionId: string, turnId?: string, by: Reporter = {}) {
    const turn = turnId === undefined ? {} : { turnId };
    return this.take(streamFor(by), 'session_bound', { ...of(by), sessionId, resumed: false, ...turn });
  }

  usage(usage: UsageReport, turnId?: string, by: Reporter = {}) {
    const turn = turnId === undefined ? {} : { turnId };
    return this.take(streamFor(by), 'usage_updated', { ...of(by), ...turn, usage });
  }

  compact(data: Partial<EventData<'compaction_completed'>> = {}, by: Reporter = {}) {
    const fields = { ...of(by), automatic: true, source: 'native', ...data } as const;
    return this.take(streamFor(by), 'compaction_completed', fields);
  }

  clear(conversationKey = KEY, reason: 'requested' | 'migrated' = 'requested') {
    const stream = streamOf.conversation(conversationKey);
    return this.take(stream, 'conversation_cleared', { conversationKey, reason });
  }

  reset(sessionKey = SESSION) {
    return this.take(streamOf.session(sessionKey), 'session_reset', { sessionKey, reason: 'requested' });
  }

  import(sessionKey: string, sessionId?: string, usage?: UsageSnapshot) {
    return this.take(streamOf.session(sessionKey), 'session_imported', {
      sessionKey,
      source: 'crewcode',
      ...(sessionId !== undefined && { sessionId }),
      ...(usage !== undefined && { usage }),
    });
  }

  get(sessionKey = SESSION) {
    return getSession(this.tables, sessionKey);
  }
}

function of({ bridgeId = 'b', provider = 'codex', sessionKey = SESSION }: Reporter) {
  return { bridgeId, provider, sessionKey };
}

function streamFor({ conversationKey = KEY }: Reporter): string {
  return streamOf.conversation(conversationKey);
}
