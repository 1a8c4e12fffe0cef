import type { BridgeSnapshot, BridgeState, Gathering } from '@turnlog/bridge';
import { streamOfBridge } from '@turnlog/events';

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
}

export function openBridge(snapshot: BridgeSnapshot): OpenBridge {
  return {
    snapshot,
    gathering: undefined,
    accepted: snapshot.context.through,
    cancelFlush: undefined,
    cancelAbandonment: undefined,
  };
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
