import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { isAbsolute, join } from 'node:path';

/*
 * Where the Unix socket of a data directory is. Its name is made of the directory's, so whoever holds the
 * store's lock is alone in using it: what lies there then is left of a daemon that was killed.
 */

/** What fits into the address of a socket on every system, its end included. */
const PATH_BYTES_MAX = 103;
const NAME_HEX_DIGITS = 16;
const OWNER_ONLY = 0o700;
const WRITABLE_BY_OTHERS = 0o022;

export interface SocketPlace {
  dataDirectory: string;
  /** `XDG_RUNTIME_DIR` of the environment: a directory of this user alone, gone when he logs out. */
  runtimeDirectory: string | undefined;
  /** Told why the socket is not where it should be. */
  onNotice(message: string): void;
}

/**
 * Prepares the place of the socket and frees it of what a killed daemon left there. Call it only while holding
 * the store's lock.
 * @returns its path; undefined where there can be none
 */
export async function prepareSocketPath({
  dataDirectory,
  runtimeDirectory,
  onNotice,
}: SocketPlace): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  const data = await realpath(dataDirectory);
  const name = createHash('sha256').update(data).digest('hex').slice(0, NAME_HEX_DIGITS);
  const own =
    runtimeDirectory === undefined || runtimeDirectory === ''
      ? undefined
      : await ownDirectory(runtimeDirectory, onNotice);
  const places = [...(own === undefined ? [] : [join(own, `${name}.sock`)]), join(data, 'turnlog.sock')];
  for (const path of places) {
    const problem = await problemOf(path);
    if (problem === undefined) return path;
    onNotice(`no socket at ${path}: ${problem}`);
  }
  return undefined;
}

/** `<runtime>/turnlog`, if nobody else can put a socket of his own there. */
async function ownDirectory(
  runtimeDirectory: string,
  onNotice: (message: string) => void,
): Promise<string | undefined> {
  const path = join(runtimeDirectory, 'turnlog');
  try {
    if (!isAbsolute(runtimeDirectory)) throw new Error('it is not absolute');
    await mkdir(path, { mode: OWNER_ONLY }).catch(ignore('EEXIST'));
    const found = await lstat(path);
    if (!found.isDirectory()) throw new Error('it is no directory');
    if (found.uid !== process.getuid?.()) throw new Error('it belongs to somebody else');
    if ((found.mode & WRITABLE_BY_OTHERS) !== 0) throw new Error('others may write to it');
    await chmod(path, OWNER_ONLY);
    return path;
  } catch (error) {
    onNotice(`${path} is not used: ${(error as Error).message}`);
    return undefined;
  }
}

/** Why a socket cannot be made here, after what is left of another one was removed. */
async function problemOf(path: string): Promise<string | undefined> {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `the path is longer than ${PATH_BYTES_MAX} bytes`;
  const found = await lstat(path).catch(ignore('ENOENT'));
  if (found === undefined) return undefined;
  if (!found.isSocket()) return 'there is something else';
  if (await isAnswered(path)) return 'another process listens there';
  await unlink(path).catch(ignore('ENOENT'));
  return undefined;
}

/** The lock says that nobody does; a directory of the same name in another container may say otherwise. */
async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

function ignore(code: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
