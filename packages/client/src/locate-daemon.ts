/**
 * Finds the daemon of a data directory. The token goes to nobody else: a killed daemon leaves its address
 * behind, where a stranger may listen by now. So its socket is used only where it belongs to the owner of
 * the token, in a directory that nobody else can write to; and its port only while the very process runs
 * that wrote the address.
 */
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRunning, type ProcessIdentity } from '@turnlog/events';
import type { Endpoint } from './endpoint.ts';

/** What a running daemon writes into `daemon.json` of its data directory. */
export interface DaemonAddress extends ProcessIdentity {
  addresses: string[];
  /** The path of its Unix socket. */
  socket?: string;
  version: string;
  /** Milliseconds since 1970. */
  since: number;
}

const WRITABLE_BY_OTHERS = 0o022;

/** The ways to the daemon of a data directory that can be trusted with its token, the best first. */
export function locateDaemon(dataDirectory: string): Endpoint[] {
  const tokenPath = join(dataDirectory, 'token');
  const daemon = parseAddress(optional(() => readFileSync(join(dataDirectory, 'daemon.json'), 'utf8')));
  const token = optional(() => readFileSync(tokenPath, 'utf8'))?.trim();
  const address = daemon?.addresses[0];
  if (daemon === undefined || address === undefined || token === undefined || token === '') return [];
  const endpoints: Endpoint[] = [];
  const owner = optional(() => statSync(tokenPath).uid);
  if (daemon.socket !== undefined && owner !== undefined && isSocketOf(daemon.socket, owner)) {
    endpoints.push({ address, socketPath: daemon.socket, token });
  }
  if (isRunning(daemon)) endpoints.push({ address, token });
  return endpoints;
}

/** Whether nobody but a user, or root, can have made this socket. */
export function isSocketOf(path: string, owner: number): boolean {
  const socket = optional(() => lstatSync(path));
  const directory = optional(() => lstatSync(dirname(path)));
  if (socket === undefined || directory === undefined) return false;
  const isOwnDirectory =
    directory.isDirectory() &&
    (directory.uid === owner || directory.uid === 0) &&
    (directory.mode & WRITABLE_BY_OTHERS) === 0;
  return isOwnDirectory && socket.isSocket() && socket.uid === owner;
}

function parseAddress(text: string | undefined): DaemonAddress | undefined {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Partial<DaemonAddress> | null;
    const isAddress =
      typeof value?.pid === 'number' &&
      Array.isArray(value.addresses) &&
      value.addresses.every((address) => typeof address === 'string') &&
      (value.socket === undefined || typeof value.socket === 'string');
    return isAddress ? (value as DaemonAddress) : undefined;
  } catch {
    return undefined;
  }
}

/** What a file says; undefined where it is not there, or not to be seen by this user. */
function optional<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
