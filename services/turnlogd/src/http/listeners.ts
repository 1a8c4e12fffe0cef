import { chmod } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { DaemonError } from '../errors.ts';

/* Where the one HTTP application is reached: a port of the loopback, and a Unix socket. */

const SOCKET_MODE = 0o700;
/** While a server closes, connections fall idle one after the other. */
const IDLE_CHECK_MS = 20;

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

/** Serves the same on a Unix socket: made here, gone with the server. */
export async function listenOnSocket(
  application: FastifyInstance,
  path: string,
  limits: { connectionsMax: number; requestTimeoutMs: number },
): Promise<Server> {
  const server = createServer(
    { requestTimeout: limits.requestTimeoutMs, keepAliveTimeout: application.server.keepAliveTimeout },
    (request, response) => application.routing(request, response),
  );
  server.maxConnections = limits.connectionsMax;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
  await chmod(path, SOCKET_MODE);
  return server;
}

/** Answers what is under way and closes. */
export async function closeServer(server: Server): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
      server.closeIdleConnections();
    });
  } finally {
    clearInterval(idle);
  }
}
