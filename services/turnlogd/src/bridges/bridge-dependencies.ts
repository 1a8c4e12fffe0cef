import type { BridgeState, Fact } from '@turnlog/bridge';
import type { Envelope, MeterState, TurnlogError } from '@turnlog/events';
import type { Completion } from '../commands/commands.ts';
import type { Environment } from '../environment.ts';
import type { KeyedLock } from '../keyed-lock.ts';
import type { LiveHub } from '../live/live-hub.ts';

/** How long a turn that a restart left open waits for its host. */
export const HOST_RETURN_MS = 30_000;

/** What the bridges need of the daemon. */
export interface BridgeDependencies {
  environment: Environment;
  /** One task at a time for each stream. */
  streams: KeyedLock;
  /** Appends facts, all or none, and answers their records. */
  append(
    stream: string,
    facts: readonly Fact[],
    completion: Completion | undefined,
  ): Promise<readonly Envelope[]>;
  head(): number;
  /** Told what happens, as it happens. */
  live: Pick<LiveHub, 'during' | 'show'>;
  /** The state of a bridge that the log knows, also of one that has stopped. */
  formerState(bridgeId: string): Promise<BridgeState | undefined>;
  /** The bridges that the log holds open, by their ids. */
  openStates(after?: string): AsyncIterable<BridgeState[]>;
  countOpen(): Promise<number>;
  /** Why it cannot be known yet what became of an append that has failed; undefined where it can. */
  unsettled(): TurnlogError | undefined;
  meterOf(sessionKey: string): Promise<MeterState>;
  ownerToken(state: BridgeState): string;
  /** Told of a failure that no caller waits for. */
  onFailure(error: unknown): void;
  gatherWindowMs?: number;
  hostReturnMs?: number;
  bridgesInMemoryMax?: number;
}
