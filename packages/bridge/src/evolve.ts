import { assert } from '@turnlog/events';
import type { Fact } from './facts.ts';
import { type BridgeState, RECENT_TURNS_MAX } from './state.ts';

/**
 * The state after a fact. Used by the machine and by the projection that outlives the daemon, so that
 * both hold the same.
 * @param state undefined before the first `bridge_requested`
 */
export function evolve(state: BridgeState | undefined, fact: Fact): BridgeState {
  if (fact.type === 'bridge_requested') return opened(state, fact);
  assert(state !== undefined, `${fact.type} comes after bridge_requested`);
  const next = changed(state, fact);
  const through = fact.meta?.through ?? 0;
  return through > next.through ? { ...next, through } : next;
}

/** A bridge id that is used again is a new bridge, but late reports of its former turns stay known. */
function opened(former: BridgeState | undefined, fact: Fact<'bridge_requested'>): BridgeState {
  const { bridgeId, provider, mode, conversationKey, sessionKey, model, cwd } = fact.data;
  return {
    bridgeId,
    provider,
    mode,
    ...(conversationKey !== undefined && { conversationKey }),
    ...(sessionKey !== undefined && { sessionKey }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    since: fact.at ?? 0,
    lifecycle: 'starting',
    through: 0,
    turn: undefined,
    compacting: false,
    recentTurnIds: former?.recentTurnIds ?? [],
    waitingPrompts: [],
    openRequestIds: [],
  };
}

function changed(state: BridgeState, fact: Fact): BridgeState {
  switch (fact.type) {
    case 'bridge_requested':
      return state;
    case 'bridge_started':
      return { ...state, lifecycle: 'started' };
    case 'bridge_stopped':
      return { ...closeTurn(state), lifecycle: 'stopped', compacting: false, openRequestIds: [] };
    case 'prompt_queued': {
      const { promptId, text, turnId } = fact.data;
      if (turnId !== undefined && turnId === state.turn?.turnId) {
        return { ...state, turn: { ...state.turn, hasPrompt: true } };
      }
      // One that comes after its turn waits for nothing.
      if (turnId !== undefined && state.recentTurnIds.includes(turnId)) return state;
      const prompt = { promptId, text, ...(turnId !== undefined && { turnId }) };
      return { ...state, waitingPrompts: [...state.waitingPrompts, prompt] };
    }
    case 'prompt_dropped':
      return withoutPrompt(state, fact.data.promptId);
    case 'turn_started': {
      const { turnId, promptId, prompt } = fact.data;
      const rest = promptId === undefined ? state : withoutPrompt(state, promptId);
      return { ...rest, turn: { turnId, hasPrompt: prompt !== undefined } };
    }
    case 'turn_ended':
    case 'turn_interrupted':
      return fact.data.turnId === state.turn?.turnId ? closeTurn(state) : state;
    case 'request_opened':
      return { ...state, openRequestIds: [...state.openRequestIds, fact.data.requestId] };
    case 'request_answered':
      return { ...state, openRequestIds: state.openRequestIds.filter((id) => id !== fact.data.requestId) };
    case 'compaction_started':
      return { ...state, compacting: true };
    case 'compaction_completed':
    case 'compaction_failed':
      return { ...state, compacting: false };
    case 'session_bound':
    case 'turn_output':
    case 'tool_started':
    case 'tool_ended':
    case 'usage_updated':
    case 'compaction_requested':
    case 'compaction_detected':
    case 'reports_accepted':
    case 'abort_requested':
    case 'stop_requested':
      return state;
  }
}

function closeTurn(state: BridgeState): BridgeState {
  const { turn } = state;
  if (turn === undefined) return state;
  const recentTurnIds = [...state.recentTurnIds, turn.turnId].slice(-RECENT_TURNS_MAX);
  return { ...state, turn: undefined, recentTurnIds };
}

function withoutPrompt(state: BridgeState, promptId: string): BridgeState {
  return { ...state, waitingPrompts: state.waitingPrompts.filter((prompt) => prompt.promptId !== promptId) };
}
