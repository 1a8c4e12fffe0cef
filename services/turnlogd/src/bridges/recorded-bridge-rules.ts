import {
  type BridgeState,
  decideInterruption,
  type Fact,
  phaseOf,
  type ReportOutcome,
} from '@turnlog/bridge';
import {
  type Envelope,
  type EventMeta,
  type LiveEvent,
  type OperationParameters,
  type OperationResult,
  type ReportedEvent,
  sessionKeyOf,
} from '@turnlog/events';
import { DaemonError } from '../errors.ts';
import type { BridgeCall } from './bridge-call.ts';
import { type OpenBridge, stateOf } from './open-bridge.ts';

export type RecordRequest = Omit<OperationParameters<'bridge.record'>, 'commandId'>;

export interface ReportRequest {
  bridgeId: string;
  /** The number of the first report. */
  first?: number;
  reports: readonly ReportedEvent[];
}

export function sessionKeyFor(request: RecordRequest): string | undefined {
  if (request.sessionKey !== undefined || request.conversationKey === undefined) return request.sessionKey;
  return sessionKeyOf(request.conversationKey, request.provider);
}

export function isSameBridge(
  state: BridgeState,
  request: RecordRequest,
  sessionKey: string | undefined,
): boolean {
  return (
    state.provider === request.provider &&
    state.conversationKey === request.conversationKey &&
    state.sessionKey === sessionKey &&
    (request.model === undefined || state.model === request.model) &&
    (request.cwd === undefined || state.cwd === request.cwd)
  );
}

/** The reports above what was accepted, and the number of the first of them. */
export function unseen(
  bridge: OpenBridge,
  first: number | undefined,
  reports: readonly ReportedEvent[],
): { first: number; reports: readonly ReportedEvent[] } {
  const next = bridge.accepted + 1;
  if (first === undefined) return { first: next, reports };
  if (first > next) {
    throw new DaemonError(
      'event_gap',
      `events from ${next} to ${first - 1} are missing; send again from ${next}`,
      {
        accepted: bridge.accepted,
      },
    );
  }
  return { first: next, reports: reports.slice(next - first) };
}

/**
 * What a host is answered that sends again what ended its bridge; undefined where its reports are others.
 * @param state what the log knows of the bridge
 */
export function answerAfterEnd(
  state: BridgeState | undefined,
  { first, reports }: ReportRequest,
  { mayUse }: BridgeCall,
): Omit<OperationResult<'bridge.event'>, 'seq'> | undefined {
  if (state?.lifecycle !== 'stopped' || first === undefined || reports.length === 0) return undefined;
  const { through } = state;
  if (first + reports.length - 1 > through || !mayUse(state)) return undefined;
  return { accepted: through, durableThrough: through, emitted: [] };
}

export function interruption(bridge: OpenBridge, reason: 'replaced' | 'restart'): Fact[] {
  return decideInterruption(stateOf(bridge), bridge.gathering, reason, undefined, metaOfEnd(bridge));
}

export function emittedOf(outcome: ReportOutcome, records: readonly Envelope[]): LiveEvent[] {
  return outcome.emitted.map(({ event, fact }) => {
    const seq = fact === undefined ? undefined : records[fact]?.seq;
    return seq === undefined ? event : { ...event, seq };
  });
}

/**
 * A bridge as lists show it.
 * @param bridge the same in memory, where it is, which knows what was accepted and is not in the log yet
 */
export function listed(
  state: BridgeState,
  bridge: OpenBridge | undefined,
): OperationResult<'bridge.list'>['bridges'][number] {
  const { bridgeId, provider, mode, conversationKey, sessionKey, turn, since, through } = state;
  return {
    bridgeId,
    provider,
    mode,
    state: phaseOf(state),
    ...(conversationKey !== undefined && { conversationKey }),
    ...(sessionKey !== undefined && { sessionKey }),
    ...(turn !== undefined && { turnId: turn.turnId }),
    accepted: bridge !== undefined && stateOf(bridge).since === since ? bridge.accepted : through,
    since,
  };
}

export function notOpen(bridgeId: string): DaemonError {
  return new DaemonError('bridge_not_found', 'no bridge of this id is open; open it with bridge.record', {
    bridgeId,
  });
}

export function isNotOpen(error: unknown): boolean {
  return error instanceof DaemonError && error.code === 'bridge_not_found';
}

/** An end writes what was gathered, so everything that was accepted is in the log with it. */
export function metaOfEnd(bridge: OpenBridge): EventMeta {
  return { bridgeId: stateOf(bridge).bridgeId, through: bridge.accepted };
}
