import type { IncomingHttpHeaders } from 'node:http';
import type { SubscriptionName } from '@turnlog/events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { SubscribeAs } from '../access/subscribe-as.ts';
import type { Environment } from '../environment.ts';
import { DaemonError } from '../errors.ts';
import type { SubscriberCount } from '../subscriber-count.ts';
import { EVENT_STREAM_LIMITS, type EventStreamLimits, streamEvents } from './event-stream.ts';

export interface EventRoutesOptions {
  subscribe: SubscribeAs;
  subscribers: SubscriberCount;
  callerOf(request: FastifyRequest): Caller;
  after: Environment['after'];
  limits?: EventStreamLimits;
}

/** A request for the head alone would follow as well, and be given nothing. */
const WITHOUT_HEAD = { exposeHeadRoute: false };

/** What can be followed by server-sent events. @returns how to end all of it */
export function serveEvents(server: FastifyInstance, options: EventRoutesOptions): () => Promise<void> {
  const { subscribe, subscribers, callerOf, after, limits = EVENT_STREAM_LIMITS } = options;
  const stopping = new AbortController();
  const streams = new Set<Promise<void>>();

  function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    name: SubscriptionName,
    parameters: object,
  ): void {
    const caller = callerOf(request);
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    const signal = AbortSignal.any([
      stopping.signal,
      gone.signal,
      ...(caller.revoked === undefined ? [] : [caller.revoked]),
    ]);
    const events = subscribe(name, parameters, caller, signal);
    const release = subscribers.take();
    reply.hijack();
    const streaming = streamEvents(reply.raw, events, signal, after, limits)
      .catch((error: unknown) => request.log.error({ err: error }, 'a subscription has failed'))
      .finally(() => {
        release();
        streams.delete(streaming);
      });
    streams.add(streaming);
  }

  server.get<{ Querystring: { from?: string } }>('/v1/events', WITHOUT_HEAD, (request, reply) => {
    const from = seqAfter(request.headers) ?? seqOf(request.query.from ?? '1');
    stream(request, reply, 'log.subscribe', { from });
  });
  server.get<{ Querystring: { from?: string } }>('/v1/live', WITHOUT_HEAD, (request, reply) => {
    const { from: asked, ...filter } = request.query;
    const from = seqAfter(request.headers) ?? (asked === undefined ? undefined : seqOf(asked));
    stream(request, reply, 'live.subscribe', { ...filter, ...(from !== undefined && { from }) });
  });

  return async () => {
    stopping.abort();
    await Promise.allSettled(streams);
  };
}

/** The seq after the last event that a returning subscriber saw. */
function seqAfter(headers: IncomingHttpHeaders): number | undefined {
  const last = headers['last-event-id'];
  return last === undefined ? undefined : seqOf(String(last)) + 1;
}

function seqOf(text: string): number {
  const seq = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (seq >= 1) return seq;
  throw new DaemonError('invalid_argument', 'from must be a seq: a whole number from 1 on', {
    field: 'from',
  });
}
