import type { IncomingHttpHeaders } from 'node:http';
import { ERROR_CODES, type ErrorCode, TurnlogError } from '@turnlog/events';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Daemon } from '../daemon.ts';
import { DaemonError } from '../errors.ts';
import { type Dispatcher, errorBodyOf } from '../operations/dispatcher.ts';
import { type Access, createAccess } from './access.ts';
import { streamEvents } from './event-stream.ts';

/** The largest request body. A transcript is sent whole, and may be long. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;
const CONNECTIONS_MAX = 1_024;
const SUBSCRIBERS_MAX = 256;
const REQUEST_TIMEOUT_MS = 120_000;

export interface HttpOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  token: string;
  dispatcher: Dispatcher;
  subscribe: Daemon['subscribe'];
  /** What `/readyz` says: `ready`, or what keeps the daemon from accepting. */
  readiness(): string;
  logger: FastifyBaseLogger;
}

export interface HttpServer {
  /** Where it listens. */
  readonly url: string;
  subscribers(): number;
  /** Answers what was accepted, ends the subscriptions, and takes nothing more. */
  close(): Promise<void>;
}

export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const stopping = new AbortController();
  const subscriptions = new Set<Promise<void>>();
  const server = Fastify({
    loggerInstance: options.logger,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Rows are stored as they came: a field of this name is data and is never merged into anything.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    forceCloseConnections: 'idle',
    // What comes while the last answers are written is answered too: the store closes after that.
    return503OnClosing: false,
  });
  server.server.maxConnections = CONNECTIONS_MAX;
  let access: Access | undefined;

  server.addHook('onRequest', async (request) => {
    // Nothing is served before the port is known, and with it the address that callers must name.
    if (access === undefined) throw new DaemonError('store_closed', 'the daemon is starting');
    access.checkOrigin(request.headers);
    if (!isOpenPath(request)) access.checkToken(request.headers.authorization);
  });
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const status = options.readiness();
    return reply.status(status === 'ready' ? 200 : 503).send({ status });
  });
  server.post<{ Params: { operation: string } }>('/v1/:operation', async (request) => ({
    result: await options.dispatcher.callUnchecked(request.params.operation, request.body ?? {}),
  }));
  const stream = (
    request: FastifyRequest,
    reply: FastifyReply,
    open: (signal: AbortSignal) => AsyncIterable<{ seq?: number }>,
  ) => {
    if (subscriptions.size >= SUBSCRIBERS_MAX) {
      throw new DaemonError('too_large', `at most ${SUBSCRIBERS_MAX} subscriptions at once`);
    }
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    const signal = AbortSignal.any([stopping.signal, gone.signal]);
    const events = open(signal);
    reply.hijack();
    const subscription = streamEvents(reply.raw, events, signal).catch((error: unknown) => {
      request.log.error({ err: error }, 'a subscription has failed');
    });
    subscriptions.add(subscription);
    void subscription.finally(() => subscriptions.delete(subscription));
  };
  server.get<{ Querystring: EventsQuery }>('/v1/events', (request, reply) => {
    const from = seqAfter(request.headers) ?? seqOf(request.query.from ?? '1');
    stream(request, reply, (signal) => options.subscribe('log.subscribe', { from }, signal));
  });
  server.get<{ Querystring: LiveQuery }>('/v1/live', (request, reply) => {
    const { from: asked, ...filter } = request.query;
    const from = seqAfter(request.headers) ?? (asked === undefined ? undefined : seqOf(asked));
    const parameters = { ...filter, ...(from !== undefined && { from }) };
    stream(request, reply, (signal) => options.subscribe('live.subscribe', parameters, signal));
  });
  answerErrors(server);

  await listen(server, options);
  const { port } = addressOf(server);
  access = createAccess(options.token, port, [bracketed(options.host)]);
  return {
    url: `http://${bracketed(options.host)}:${port}`,
    subscribers: () => subscriptions.size,
    async close() {
      stopping.abort();
      await Promise.allSettled(subscriptions);
      await server.close();
    },
  };
}

async function listen(server: FastifyInstance, { host, port }: HttpOptions): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error;
    throw new DaemonError(
      'invalid_argument',
      `cannot listen on ${host}:${port} (${code}); choose another with --host and --port`,
      { host, port, cause: code },
    );
  }
}

interface EventsQuery {
  from?: string;
}

interface LiveQuery extends EventsQuery {
  bridgeId?: string;
  conversationKey?: string;
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

function answerErrors(server: FastifyInstance): void {
  server.setNotFoundHandler(() => {
    throw new DaemonError(
      'operation_not_found',
      'there is nothing here; operations are POST /v1/<operation>',
    );
  });
  server.setErrorHandler((error, request, reply) => {
    const known = error instanceof TurnlogError ? error : refusalOf(error as NodeJS.ErrnoException);
    const body = errorBodyOf(known);
    if (body.code === 'internal') request.log.error({ err: error }, 'an operation has failed');
    return reply.status(ERROR_CODES[body.code].httpStatus).send({ error: body });
  });
}

/** What the HTTP library itself refuses, in our codes. */
const REFUSALS: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'too_large',
    message: `the body is over the limit of ${BODY_BYTES_MAX} bytes`,
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'invalid_argument',
    message: 'send a JSON object with the header "content-type: application/json"',
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'invalid_argument', message: 'the body is not valid JSON' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'invalid_argument', message: 'the body is empty; send a JSON object' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'invalid_argument',
    message: 'the body is not as long as its Content-Length says',
  },
};

function refusalOf(error: NodeJS.ErrnoException & { statusCode?: number }): unknown {
  const refusal = REFUSALS[error.code ?? ''];
  if (refusal !== undefined) return new DaemonError(refusal.code, refusal.message);
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return new DaemonError('invalid_argument', 'the request is not valid');
  }
  return error;
}

function isOpenPath(request: FastifyRequest): boolean {
  return request.url === '/healthz' || request.url === '/readyz';
}

function addressOf(server: FastifyInstance): { port: number } {
  const address = server.server.address();
  if (address === null || typeof address === 'string')
    throw new DaemonError('internal', 'listens on no port');
  return address;
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
