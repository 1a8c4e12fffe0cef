import { stat } from 'node:fs/promises';
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
