import { join } from 'node:path';
import { LogError } from './errors.ts';
import { type FileSystem, readTextFile, writeFileDurably } from './file-system.ts';

/*
 * The marker `store.json` decides whether a store is new: nothing else may create a database.
 *
 * It says `creating` before the databases are made and `ready` after, each written durably. After a crash
 * under `creating` no event was ever acknowledged, so making goes on. Under `ready` the databases must exist.
 * Databases without a marker are somebody's store that lost a file: never made anew.
 */

export const STORE_VERSION = 1;

export type MarkerState = 'creating' | 'ready';

/** @throws LogError `store_damaged`, `store_version_unknown` */
export async function readMarker(
  fileSystem: FileSystem,
  directory: string,
): Promise<MarkerState | undefined> {
  const text = await readTextFile(fileSystem, pathIn(directory));
  if (text === undefined) return undefined;
  const { state, version } = parse(text);
  if (version !== STORE_VERSION) {
    throw new LogError(
      'store_version_unknown',
      `the store has version ${JSON.stringify(version)}, not ${STORE_VERSION}`,
      {
        version,
        known: STORE_VERSION,
      },
    );
  }
  if (state !== 'creating' && state !== 'ready') throw unreadable();
  return state;
}

export async function writeMarker(
  fileSystem: FileSystem,
  directory: string,
  state: MarkerState,
): Promise<void> {
  await writeFileDurably(
    fileSystem,
    pathIn(directory),
    `${JSON.stringify({ state, version: STORE_VERSION })}\n`,
  );
}

function parse(text: string): { state?: unknown; version?: unknown } {
  let marker: unknown;
  try {
    marker = JSON.parse(text);
  } catch {
    throw unreadable();
  }
  if (typeof marker !== 'object' || marker === null) throw unreadable();
  return marker;
}

function unreadable(): LogError {
  return new LogError('store_damaged', 'the marker file store.json cannot be read');
}

function pathIn(directory: string): string {
  return join(directory, 'store.json');
}
