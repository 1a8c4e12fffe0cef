import * as node from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codesOf } from './errors.ts';

/** What turnlog asks of a file system, passed in so that a test can make it fail. */
export type FileSystem = Pick<
  typeof node,
  'mkdir' | 'open' | 'readFile' | 'readdir' | 'rename' | 'rm' | 'stat' | 'unlink'
> &
  Partial<Pick<typeof node, 'statfs'>>;

export const nodeFileSystem: FileSystem = node;

const TEMPORARY = '.tmp';
const RENAME_ATTEMPTS_MAX = 6;
const RENAME_FIRST_DELAY_MS = 5;
/** Said while another program holds the file (a virus scanner, an indexer); it passes. */
const HELD = new Set(['EPERM', 'EACCES', 'EBUSY']);

let temporaryFiles = 0;

/**
 * Replaces a file as a whole: temporary file, fsync, rename, fsync of the directory.
 * After a crash the file is as it was or as it should be, and once this resolves it is as it should be;
 * a temporary file may be left, for {@link sweepTemporaryFiles}.
 * @param options.mode the permissions of a new file
 */
export async function writeFileDurably(
  fileSystem: FileSystem,
  path: string,
  content: string | Uint8Array,
  options: { mode?: number } = {},
): Promise<void> {
  temporaryFiles += 1;
  const temporary = `${path}.${process.pid}-${temporaryFiles}${TEMPORARY}`;
  try {
    const file = await fileSystem.open(temporary, 'w', options.mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await renamePatiently(fileSystem, temporary, path);
  } catch (error) {
    await fileSystem.rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(fileSystem, dirname(path));
}

/** Removes a file for good; one that is not there is removed already. */
export async function removeFileDurably(fileSystem: FileSystem, path: string): Promise<void> {
  try {
    await fileSystem.unlink(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return;
  }
  await syncDirectory(fileSystem, dirname(path));
}

/** Removes what interrupted {@link writeFileDurably} left in a directory. Only its owner may call it. */
export async function sweepTemporaryFiles(fileSystem: FileSystem, directory: string): Promise<void> {
  for (const name of await fileSystem.readdir(directory)) {
    if (/\.\d+-\d+\.tmp$/u.test(basename(name))) await fileSystem.rm(join(directory, name), { force: true });
  }
}

/** The text of a file, or undefined where there is none. */
export async function readTextFile(fileSystem: FileSystem, path: string): Promise<string | undefined> {
  try {
    return await fileSystem.readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export async function syncDirectory(fileSystem: FileSystem, path: string): Promise<void> {
  // Windows has no fsync of a directory; its rename is journalled.
  if (process.platform === 'win32') return;
  const directory = await fileSystem.open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function renamePatiently(fileSystem: FileSystem, from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await fileSystem.rename(from, to);
      return;
    } catch (error) {
      const held = codesOf(error).some((code) => HELD.has(code));
      if (!held || attempt === RENAME_ATTEMPTS_MAX) throw error;
      await delay(RENAME_FIRST_DELAY_MS * 2 ** attempt);
    }
  }
}

function isMissing(error: unknown): boolean {
  return codesOf(error).includes('ENOENT');
}
