import { chmod } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { DaemonError } from '../errors.ts';
import { answerClientError } from './http-errors.ts';

/* Where the one HTTP application is reached: a port of the loopback, and a Unix socket. */

const SOCKET_MODE = 0o700;
/** While a server closes, connections fall idle one after the other. */
const IDLE_CHECK_MS = 20;
/** How long a server that closes waits for a request that is under way. */
const UNFINISHED_REQUEST_MS = 5_000;

/**
 * Listens on a port.
 * @param port 0 takes a free one
 * @returns the port
 */
export async function listenOnPort(server: FastifyInstance, host: string, port: number): Promise<number> {
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
  const address = server.server.address();
  if (address === null || typeof address === 'string') {
    throw new DaemonError('internal', 'listens on no port');
  }
  return address.port;
}

/** A second server for the same application, with the limits of the first. */
export function createSocketServer(application: FastifyInstance): Server {
  const { requestTimeout, headersTimeout, keepAliveTimeout, maxConnections } = application.server;
  const server = createServer({ requestTimeout, headersTimeout, keepAliveTimeout }, (request, response) =>
    application.routing(request, response),
  );
  server.maxConnections = maxConnections;
  server.on('clientError', (error, socket) => answerClientError(error, socket as Socket));
  return server;
}

/** Listens on a Unix socket, which is made here and gone with the server. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
  await chmod(path, SOCKET_MODE);
}

/**
 * Closes a server once what is under way is answered. Connections are kept alive by their clients, so each is
 * ended as it falls idle; one that never finishes its request is cut off after a while.
 */
export async function closeServer(server: Server, close = () => closed(server)): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cutOff = setTimeout(() => server.closeAllConnections(), UNFINISHED_REQUEST_MS);
  try {
    const closing = close();
    server.closeIdleConnections();
    await closing;
  } finally {
    clearInterval(idle);
    clearTimeout(cutOff);
  }
}

function closed(server: Server): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
  });
}
