import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { droppedLines, nodeFileSystem } from '@turnlog/log';
import { Level } from 'level';
import { causeCodes } from '../errors.ts';
import type { ProjectionDatabase } from './table-store.ts';

/** Where the database of the projections is, passed in so that tests can keep it in memory. */
export interface DatabaseHome {
  /** Opens it, making an empty one where there is none. */
  open(): Promise<ProjectionDatabase>;
  /** Takes a closed database away with everything in it. */
  discard(): Promise<void>;
  /** What the engine says that it left out when it was opened, and the time before, line by line. */
  dropped?(): Promise<string[]>;
  /** Puts everything written on the disk, however it was written. */
  settle?(database: ProjectionDatabase): Promise<void>;
}

/** A LevelDB in a directory of its own. */
export function levelDatabase(directory: string): DatabaseHome {
  return {
    async open() {
      const database = new Level<string, Buffer>(directory, {
        keyEncoding: 'utf8',
        valueEncoding: 'buffer',
        // Where there are files but no CURRENT, LevelDB would delete the tables and keep the latest rows.
        createIfMissing: await isEmpty(directory),
      });
      await database.open();
      return database;
    },
    async discard() {
      await rm(directory, { recursive: true, force: true });
    },
    async dropped() {
      const reports = ['LOG', 'LOG.old'].map((report) => join(directory, report));
      return await droppedLines(nodeFileSystem, reports);
    },
    async settle(database) {
      // A synced write covers the current log file only. Compacting an empty range first turns what the
      // logs before it hold into table files, which LevelDB syncs itself.
      if (isCompactable(database)) await database.compactRange('\0', '\0');
    },
  };
}

async function isEmpty(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length === 0;
  } catch (error) {
    if (causeCodes(error).includes('ENOENT')) return true;
    throw error;
  }
}

interface Compactable {
  compactRange(start: string, end: string): Promise<void>;
}

function isCompactable(database: object): database is Compactable {
  return 'compactRange' in database && typeof database.compactRange === 'function';
}
