import type { SubscriptionName } from '@turnlog/events';
import type { Caller } from '../access/caller.ts';
import type { Environment } from '../environment.ts';
import type { Dispatcher } from '../operations/dispatcher.ts';
import type { SubscriberCount } from '../subscriber-count.ts';
import type { OutboxLimits, Sink } from './outbox.ts';

/* What a connection is made of: the line to its peer, what it may do, and how much of it. */

/** The line to one peer, frame by frame. */
export interface Channel extends Sink {
  /** Reads nothing more until `resume`. What was read already may still come. */
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
  /** Ends without waiting for the peer. */
  terminate(): void;
}

/** Why a connection is closed, in the numbers of WebSocket. */
export const CLOSE = { goingAway: 1001, refused: 1008, tryAgainLater: 1013 } as const;

export interface RpcLimits extends OutboxLimits {
  /** Requests that are carried out at once; what comes beyond is read later. */
  requestsInFlightMax: number;
  subscriptionsMax: number;
  /** How long the first frame may take. */
  authTimeoutMs: number;
  /** How long a peer may take to close after it was told. */
  closeTimeoutMs: number;
}

export const RPC_LIMITS: RpcLimits = {
  unsentBytesMax: 1024 * 1024,
  stallTimeoutMs: 30_000,
  requestsInFlightMax: 256,
  subscriptionsMax: 32,
  authTimeoutMs: 5_000,
  closeTimeoutMs: 5_000,
};

export interface RpcParts {
  channel: Channel;
  dispatcher: Pick<Dispatcher, 'callUnchecked'>;
  /** Who shows a token; undefined for one that opens nothing. */
  callerOf(token: string): Caller | undefined;
  /**
   * Follows something as this caller.
   * @throws TurnlogError what the parameters or the caller are refused with
   */
  subscribe(
    name: SubscriptionName,
    parameters: unknown,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<unknown>;
  subscribers: SubscriberCount;
  after: Environment['after'];
  limits: RpcLimits;
  /** Told of a fault that the peer is told nothing about. */
  onFault(error: unknown): void;
}
