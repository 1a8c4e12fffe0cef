/** A turn that is open on a bridge. */
export interface OpenTurn {
  turnId: string;
  /** Whether what the user wrote is in the log already. */
  hasPrompt: boolean;
}

/** A prompt that waits for its turn. */
export interface WaitingPrompt {
  promptId: string;
  text: string;
  /** The turn it is meant for, where its host said so. */
  turnId?: string;
}

/** How many turns of a bridge are remembered after their end, so that a late report finds them. */
export const RECENT_TURNS_MAX = 64;

/**
 * All that is known of one bridge: the context of its machine, and the row that outlives the daemon.
 * Plain data; the same events give the same state.
 */
export interface BridgeState {
  bridgeId: string;
  provider: string;
  mode: 'recorded' | 'driven';
  conversationKey?: string;
  sessionKey?: string;
  model?: string;
  cwd?: string;
  /** When it was asked for, in milliseconds since 1970. */
  since: number;
  lifecycle: 'starting' | 'started' | 'stopped';
  /** The number of the last reported event that the log holds (recorded bridges). */
  through: number;
  turn: OpenTurn | undefined;
  /** A compaction of the provider is under way. */
  compacting: boolean;
  /** Turns that have ended or were interrupted, the latest last. */
  recentTurnIds: string[];
  waitingPrompts: WaitingPrompt[];
  openRequestIds: string[];
}

export type BridgePhase = 'starting' | 'idle' | 'turn' | 'compacting' | 'stopped';

/** The state's place in the machine. A test holds that the machine itself is always there. */
export function phaseOf(state: BridgeState): BridgePhase {
  if (state.lifecycle !== 'started') return state.lifecycle;
  if (state.turn !== undefined) return 'turn';
  return state.compacting ? 'compacting' : 'idle';
}

/** What any event that tells of a bridge repeats of it. */
export function bridgeFields(state: BridgeState): {
  bridgeId: string;
  provider: string;
  sessionKey?: string;
} {
  const { bridgeId, provider, sessionKey } = state;
  return sessionKey === undefined ? { bridgeId, provider } : { bridgeId, provider, sessionKey };
}
