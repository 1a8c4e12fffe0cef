import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { DaemonError } from '../errors.ts';

/** @throws DaemonError `invalid_argument` where there is no directory that can be read */
export async function assertDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch((error: NodeJS.ErrnoException) => {
    throw new DaemonError('invalid_argument', `${directory} cannot be read (${error.code})`, { directory });
  });
  if (!found.isDirectory()) {
    throw new DaemonError('invalid_argument', `${directory} is not a directory`, { directory });
  }
}

/**
 * Checks that what is only read does not lie where turnlog writes, nor around it: the rendered files have the
 * names of the source's own.
 * @throws DaemonError `invalid_argument`
 */
export async function assertApart(source: string, dataDirectory: string): Promise<void> {
  const [from, to] = await Promise.all([realPathOf(source), realPathOf(dataDirectory)]);
  if (!isWithin(from, to) && !isWithin(to, from)) return;
  throw new DaemonError(
    'invalid_argument',
    `${source} and the data directory ${dataDirectory} lie in each other; choose another data directory with --data`,
    { source, dataDirectory },
  );
}

function isWithin(inner: string, outer: string): boolean {
  const path = relative(outer, inner);
  return path === '' || (path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path));
}

/** Of a path that may not be there yet: the real path of what is there, and the rest. */
async function realPathOf(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(whole) === whole) throw error;
    return join(await realPathOf(dirname(whole)), basename(whole));
  }
}
