import type { BridgeState } from '@turnlog/bridge';
import type { Command } from '../commands/command.ts';
import { DaemonError } from '../errors.ts';

/** What an operation on a bridge is told of its call. */
export interface BridgeCall {
  /** Where the caller named the command: the append that does it says that it is done. */
  command: Command | undefined;
  /** Whether the caller may use a bridge, be it open or stopped. */
  mayUse(state: BridgeState): boolean;
}

/** A call of who may use everything. */
export const ANY_BRIDGE: BridgeCall = { command: undefined, mayUse: () => true };

/** @throws DaemonError `forbidden` where the id is that of a bridge which the caller may not use */
export function assertMayUse({ mayUse }: BridgeCall, state: BridgeState | undefined): void {
  if (state === undefined || mayUse(state)) return;
  throw new DaemonError('forbidden', 'another bridge has this id; use a new one', {
    bridgeId: state.bridgeId,
  });
}
