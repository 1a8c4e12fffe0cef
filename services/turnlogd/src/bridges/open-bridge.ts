import { isDeepStrictEqual } from 'node:util';
import { type BridgeSnapshot, type BridgeState, type Gathering, restoreBridge } from '@turnlog/bridge';
import { streamOfBridge } from '@turnlog/events';
import type { PendingDelta } from '../live/live-hub.ts';

/** A bridge that has not stopped, as the daemon holds it in memory. */
export interface OpenBridge {
  snapshot: BridgeSnapshot;
  /** Deltas that are accepted and not yet in the log. */
  gathering: Gathering | undefined;
  /** The number of the last event that was accepted. */
  accepted: number;
  /** Ends the wait for more deltas, where one is under way. */
  cancelFlush: (() => void) | undefined;
  /** Ends the wait for the host to return after a restart, where one is under way. */
  cancelAbandonment: (() => void) | undefined;
  /** How many tasks have it in hand. */
  users: number;
  /** An append for it has failed, and whether the log has it is not known. */
  isUnsure: boolean;
}

export function openBridge(snapshot: BridgeSnapshot): OpenBridge {
  return {
    snapshot,
    gathering: undefined,
    accepted: snapshot.context.through,
    cancelFlush: undefined,
    cancelAbandonment: undefined,
    users: 0,
    isUnsure: false,
  };
}

/** A bridge as the log knows it. */
export function restoredBridge(state: BridgeState): OpenBridge {
  return openBridge(restoreBridge(state));
}

/**
 * Brings a bridge, for which an append had failed, to what the log knows of it now. Where the append is not in
 * the log it is as it was; else what was gathered and is in the log goes.
 */
export function settleBridge(bridge: OpenBridge, state: BridgeState): void {
  if (isDeepStrictEqual(defined(stateOf(bridge)), defined(state))) return;
  bridge.snapshot = restoreBridge(state);
  bridge.accepted = Math.max(bridge.accepted, state.through);
  const { gathering } = bridge;
  const isKept =
    gathering !== undefined && gathering.through > state.through && gathering.turnId === state.turn?.turnId;
  if (!isKept) bridge.gathering = undefined;
  if (state.turn === undefined) cancelWaits(bridge);
}

/** Without the fields that are undefined, which the log does not keep. */
function defined(state: BridgeState): object {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined));
}

export function stateOf(bridge: OpenBridge): BridgeState {
  return bridge.snapshot.context;
}

export function streamOfOpen(bridge: OpenBridge): string {
  return streamOfBridge(stateOf(bridge));
}

/** Stops what waits for the bridge; nothing of it may happen after its end. */
export function cancelWaits(bridge: OpenBridge): void {
  bridge.cancelFlush?.();
  bridge.cancelAbandonment?.();
  bridge.cancelFlush = undefined;
  bridge.cancelAbandonment = undefined;
}

/** The host has returned after a restart: its turn stays open. */
export function hostIsHere(bridge: OpenBridge): void {
  bridge.cancelAbandonment?.();
  bridge.cancelAbandonment = undefined;
}

/** What is gathered of a bridge and not in the log yet, as hosts are told it. */
export function pendingOf(bridge: OpenBridge): PendingDelta[] {
  const { gathering } = bridge;
  if (gathering === undefined || gathering.pending === '') return [];
  const { turnId, channel, pending, through } = gathering;
  const { bridgeId } = stateOf(bridge);
  const event = { type: `${channel}_delta` as const, bridgeId, turnId, delta: pending };
  return [{ stream: streamOfOpen(bridge), event, through }];
}
