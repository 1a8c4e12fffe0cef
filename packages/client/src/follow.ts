import type { Envelope, LiveEvent, SubscriptionParameters } from '@turnlog/events';
import { BACK_OFF, backOff } from './back-off.ts';
import type { Connection } from './connection.ts';
import { ClientError, isPassing } from './errors.ts';
import { openEventSource } from './event-source.ts';

export interface FollowOptions {
  /** Ends the iteration, without an error. */
  signal?: AbortSignal;
  /** Whether to connect again where the connection is lost; true unless said. */
  reconnect?: boolean;
}

/**
 * The log from a seq on (1 unless said) and then as it grows, every event once and in order, also over
 * restarts of the daemon.
 * @throws ClientError `internal` where an event is missing; whatever does not pass by itself
 */
export async function* followLog(
  connection: Connection,
  { from = 1, ...options }: FollowOptions & SubscriptionParameters<'log.subscribe'>,
): AsyncGenerator<Envelope, void> {
  let next = from;
  for await (const value of reconnecting(connection, () => `/v1/events?from=${next}`, options)) {
    const event = value as Envelope;
    if (event.seq !== next) {
      throw new ClientError('internal', `expected event ${next} of the log and got ${event.seq}`);
    }
    next += 1;
    yield event;
  }
}

/**
 * The live events of bridges: with `from` the structural ones from a seq on, then everything as it happens;
 * without it what happens from now on. After a lost connection it goes on behind the last event that has a
 * seq; deltas of the time between are in the log, gathered.
 * @throws ClientError whatever does not pass by itself
 */
export async function* followLive(
  connection: Connection,
  { from, signal, reconnect, ...filter }: FollowOptions & SubscriptionParameters<'live.subscribe'>,
): AsyncGenerator<LiveEvent, void> {
  // One record of the log may be told as several live events, so a seq alone does not say where we are.
  let seq = from;
  let seenOfSeq = 0;
  let toSkip = 0;
  const path = () => {
    toSkip = seenOfSeq;
    const query = new URLSearchParams(filter);
    if (seq !== undefined) query.set('from', String(seq));
    return `/v1/live?${query}`;
  };
  const options = { ...(signal && { signal }), ...(reconnect !== undefined && { reconnect }) };
  for await (const value of reconnecting(connection, path, options)) {
    const event = value as LiveEvent;
    if (event.seq !== undefined) {
      if (event.seq === seq && toSkip > 0) {
        toSkip -= 1;
        continue;
      }
      seenOfSeq = event.seq === seq ? seenOfSeq + 1 : 1;
      seq = event.seq;
    }
    yield event;
  }
}

/** The values of one stream after the other, each opened where the last one ended. */
async function* reconnecting(
  connection: Connection,
  path: () => string,
  { signal = new AbortController().signal, reconnect = true }: FollowOptions,
): AsyncGenerator<unknown, void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const value of openEventSource(connection, path(), signal)) {
        failures = 0;
        yield value;
      }
    } catch (error) {
      if (signal.aborted) return;
      const isTooSlow = error instanceof ClientError && error.code === 'too_slow';
      if (!reconnect || !(isPassing(error) || isTooSlow)) throw error;
    }
    if (!reconnect) return;
    failures += 1;
    await backOff(failures, BACK_OFF, signal);
  }
}
