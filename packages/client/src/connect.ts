import { type Client, clientOf, createClient } from './client.ts';
import { Connection } from './connection.ts';
import { defaultDataDirectory } from './data-directory.ts';
import { isPassing } from './errors.ts';
import { locateDaemon } from './locate-daemon.ts';

/** Which daemon: the one of a data directory on this machine, or one at an address. */
export type ConnectOptions =
  | {
      /** `TURNLOG_DATA` unless said, else where turnlog keeps its data on this system. */
      dataDirectory?: string;
    }
  | { address: string; token: string };

/**
 * Connects to a daemon: to that of a data directory by its Unix socket, else by its port.
 * The client finds it again when it comes back, on another port too.
 * @throws ClientError `unreachable` where none runs; `unauthorized`
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  if ('address' in options) {
    const client = createClient(options);
    await client.daemon.status();
    return client;
  }
  const { dataDirectory = defaultDataDirectory(process.env) } = options;
  const connection = connectionTo(dataDirectory);
  await connection.open();
  return clientOf(connection);
}

/** The client of the daemon that runs on a data directory; undefined where none does. */
export async function findDaemon(dataDirectory: string): Promise<Client | undefined> {
  const connection = connectionTo(dataDirectory);
  try {
    await connection.open();
    return clientOf(connection);
  } catch (error) {
    if (isPassing(error) && error.code === 'unreachable') return undefined;
    throw error;
  }
}

function connectionTo(dataDirectory: string): Connection {
  return new Connection(() => locateDaemon(dataDirectory), dataDirectory);
}
