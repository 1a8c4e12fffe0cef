import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, type ProcessIdentity } from '@turnlog/events';
import { type Client, createClient } from './client.ts';

/** What a running daemon writes into `daemon.json` of its data directory. */
export interface DaemonAddress extends ProcessIdentity {
  addresses: string[];
  version: string;
  /** Milliseconds since 1970. */
  since: number;
}

/**
 * The client of the daemon that runs on a data directory; undefined where none does.
 * A killed daemon leaves its address behind, where a stranger may listen by now: the token is sent only
 * while the very process that wrote the address runs.
 */
export async function findDaemon(dataDirectory: string): Promise<Client | undefined> {
  const [file, token] = await Promise.all([
    readOptional(join(dataDirectory, 'daemon.json')),
    readOptional(join(dataDirectory, 'token')),
  ]);
  if (file === undefined || token === undefined) return undefined;
  const daemon = parseAddress(file);
  const address = daemon?.addresses[0];
  if (daemon === undefined || address === undefined || !isRunning(daemon)) return undefined;
  return createClient({ address, token: token.trim() });
}

function parseAddress(text: string): DaemonAddress | undefined {
  try {
    const value = JSON.parse(text) as Partial<DaemonAddress> | null;
    return typeof value?.pid === 'number' && Array.isArray(value.addresses)
      ? (value as DaemonAddress)
      : undefined;
  } catch {
    return undefined;
  }
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
