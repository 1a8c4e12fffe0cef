import { join } from 'node:path';
import { storeErrorOf } from './errors.ts';
import type { FileSystem } from './file-system.ts';
import { ROOM_BYTES } from './limits.ts';

const CHUNK = Buffer.alloc(1024 * 1024);

let probes = 0;

/**
 * Whether the disk of a directory takes what a store may write when it is opened again. It is tried, for a
 * quota is seen in no other way; a file that a crash leaves is swept like any other temporary one.
 * @throws the file system's error, where it is not that the disk is full
 */
export async function hasRoom(fileSystem: FileSystem, directory: string): Promise<boolean> {
  const free = await fileSystem.statfs?.(directory);
  if (free !== undefined && free.bavail * free.bsize < ROOM_BYTES) return false;
  probes += 1;
  const path = join(directory, `room.${process.pid}-${probes}.tmp`);
  try {
    const file = await fileSystem.open(path, 'w', 0o600);
    try {
      for (let written = 0; written < ROOM_BYTES; written += CHUNK.length) await file.writeFile(CHUNK);
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (storeErrorOf(error, 'looking for room').code === 'storage_full') return false;
    throw error;
  } finally {
    await fileSystem.rm(path, { force: true });
  }
}
