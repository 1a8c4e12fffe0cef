import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import { subscribeAs } from '../access/subscribe-as.ts';
import type { Daemon } from '../daemon.ts';
import { type Environment, systemEnvironment } from '../environment.ts';
import { DaemonError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { RPC_LIMITS, type RpcLimits } from '../rpc/rpc-parts.ts';
import { SubscriberCount } from '../subscriber-count.ts';
import { VERSION } from '../version.ts';
import { type Access, createAccess } from './access.ts';
import { serveEvents } from './event-routes.ts';
import type { EventStreamLimits } from './event-stream.ts';
import {
  acceptJson,
  answerClientError,
  answerErrors,
  answerFrameworkError,
  BODY_BYTES_MAX,
} from './http-errors.ts';
import { closeServer, createSocketServer, listenOnPort, listenOnSocket } from './listeners.ts';
import { openApiDocument } from './openapi.ts';
import { WEB_SOCKET_LIMITS, type WebSocketLimits, WebSockets } from './web-sockets.ts';

const CONNECTIONS_MAX = 1_024;
const REQUEST_TIMEOUT_MS = 120_000;
const HEADERS_TIMEOUT_MS = 10_000;

export interface HttpOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Where the Unix socket is to be; it must be free. */
  socketPath: string | undefined;
  daemon: Pick<Daemon, 'dispatcher' | 'tokens' | 'subscribe' | 'readiness'>;
  metrics: Metrics;
  logger: FastifyBaseLogger;
  after?: Environment['after'];
  limits?: { eventStreams?: EventStreamLimits; rpc?: RpcLimits; webSockets?: WebSocketLimits };
}

export interface HttpServer {
  /** Where it listens. */
  readonly url: string;
  /** The path of the Unix socket, where it could be made. */
  readonly socketPath: string | undefined;
  subscribers(): number;
  webSockets(): number;
  /** Answers what was accepted, ends the subscriptions, and takes nothing more. Safe to call more than once. */
  close(): Promise<void>;
}

export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { daemon, logger, host, socketPath, after = systemEnvironment.after, limits = {} } = options;
  const subscribers = new SubscriberCount();
  const subscribe = subscribeAs(daemon.subscribe);
  const server = createApplication(logger);
  const callers = new WeakMap<FastifyRequest, Caller>();
  /** Requests on the Unix socket: no page can make one, and its Host says nothing. */
  const onSocket = new WeakSet<Duplex>();
  let access: Access | undefined;

  function checkOrigin(request: IncomingMessage): Access {
    // Nothing is served before the port is known, and with it the address that callers must name.
    if (access === undefined) throw new DaemonError('store_closed', 'the daemon is starting');
    if (!onSocket.has(request.socket)) access.checkOrigin(request.headers);
    return access;
  }
  function callerOf(request: FastifyRequest): Caller {
    const caller = callers.get(request);
    if (caller === undefined) throw new DaemonError('internal', 'a request without a caller was let in');
    return caller;
  }
  server.addHook('onRequest', async (request) => {
    const { callerOf: identify } = checkOrigin(request.raw);
    if (!isOpenPath(request)) callers.set(request, identify(request.headers.authorization));
  });
  serveOperations(server, options, callerOf);
  const endStreams = serveEvents(server, {
    subscribe,
    subscribers,
    callerOf,
    after,
    ...(limits.eventStreams && { limits: limits.eventStreams }),
  });
  answerErrors(server);

  const webSockets = new WebSockets({
    dispatcher: daemon.dispatcher,
    callerOf: (token) => daemon.tokens.callerOf(token),
    checkOrigin,
    subscribe,
    subscribers,
    after,
    onFault: (error) => logger.error({ err: error }, 'a request on a WebSocket has failed'),
    limits: limits.rpc ?? RPC_LIMITS,
    webSocketLimits: limits.webSockets ?? WEB_SOCKET_LIMITS,
  });
  const servers: Server[] = [];
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (async () => {
      await Promise.all([endStreams(), webSockets.close()]);
      const closePort = closeServer(server.server, async () => await server.close());
      await Promise.all([closePort, ...servers.map((each) => closeServer(each))]);
    })();
    return closed;
  };
  try {
    const port = await listenOnPort(server, host, options.port);
    access = createAccess(daemon.tokens, port, [bracketed(host)]);
    takeUpgrades(server.server, webSockets);
    if (socketPath !== undefined) {
      const onPath = createSocketServer(server);
      onPath.on('connection', (socket) => onSocket.add(socket));
      takeUpgrades(onPath, webSockets);
      try {
        await listenOnSocket(onPath, socketPath);
        servers.push(onPath);
      } catch (error) {
        // Not every file system has sockets; whoever would use it takes the port.
        logger.warn({ err: error }, `no socket at ${socketPath}`);
      }
    }
    return {
      socketPath: servers.length === 0 ? undefined : socketPath,
      url: `http://${bracketed(host)}:${port}`,
      subscribers: () => subscribers.current,
      webSockets: () => webSockets.size,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function createApplication(logger: FastifyBaseLogger): FastifyInstance {
  const server = Fastify({
    loggerInstance: logger,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    // Rows are stored as they came: a field of this name is data and is never merged into anything.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    forceCloseConnections: 'idle',
    // What comes while the last answers are written is answered too: the store closes after that.
    return503OnClosing: false,
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  });
  acceptJson(server);
  server.server.maxConnections = CONNECTIONS_MAX;
  return server;
}

function serveOperations(
  server: FastifyInstance,
  { daemon, metrics }: Pick<HttpOptions, 'daemon' | 'metrics'>,
  callerOf: (request: FastifyRequest) => Caller,
): void {
  server.get('/healthz', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const status = daemon.readiness();
    return reply.status(status === 'ready' ? 200 : 503).send({ status });
  });
  server.get('/metrics', async (request, reply) => {
    if (callerOf(request).scope !== 'local')
      throw new DaemonError('forbidden', 'a web token does not open this');
    return reply.type(metrics.contentType).send(await metrics.text());
  });
  server.get('/openapi.json', async () => openApiDocument(VERSION));
  server.post<{ Params: { operation: string } }>('/v1/:operation', async (request) => ({
    result: await daemon.dispatcher.callUnchecked(
      request.params.operation,
      request.body ?? {},
      callerOf(request),
    ),
  }));
}

function takeUpgrades(server: Server, webSockets: WebSockets): void {
  server.on('upgrade', (request, socket, head) => webSockets.upgrade(request, socket, head));
}

function isOpenPath(request: FastifyRequest): boolean {
  return request.url === '/healthz' || request.url === '/readyz';
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
