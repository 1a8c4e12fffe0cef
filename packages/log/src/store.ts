import { join } from 'node:path';
import type { AbstractLevel } from 'abstract-level';
import { ClassicLevel } from 'classic-level';
import { codesOf } from './errors.ts';
import { type FileSystem, nodeFileSystem, readTextFile } from './file-system.ts';

/** A database whose keys and values are bytes. */
export type Database = AbstractLevel<string | Buffer | Uint8Array, Buffer, Buffer>;

/** `log` holds the records and nothing else; `index` can be made again from it. */
export type DatabaseName = 'log' | 'index';

/**
 * Where the log's two databases come from. Implementations are held to `testLogConformance`.
 */
export interface Store {
  /** Whether anything is there under this name, intact or not. */
  exists(name: DatabaseName): Promise<boolean>;
  /**
   * Opens a database and takes its lock.
   * @param mode `create` makes what is missing; `existing` must fail, and change nothing, where it is missing
   */
  open(name: DatabaseName, mode: 'create' | 'existing'): Promise<Database>;
  /** Takes a closed database away. */
  destroy(name: DatabaseName): Promise<void>;
  /**
   * What the engine says that it left out when it opened the database, line by line: of `log` at the last
   * opening; of `index`, which is made anew after such a report, also at the one before.
   */
  dropped(name: DatabaseName): Promise<string[]>;
}

/** A key and its value. */
export type Row = [key: Buffer, value: Buffer];

/** A write that is on disk when it is answered. Engines without a disk ignore it. */
const SYNCED: object = { sync: true };

/** Puts rows as one atomic batch, synced or not. A chained batch takes a row in less than half the time of an array. */
export async function putRows(
  database: Database,
  rows: Iterable<Row>,
  { synced }: { synced: boolean },
): Promise<void> {
  const batch = database.batch();
  for (const [key, value] of rows) batch.put(key, value);
  await batch.write(synced ? SYNCED : {});
}

const DROPPED = /dropping|Corruption/u;

/** The lines of LevelDB's reports that say that it left something out. */
export async function droppedLines(fileSystem: FileSystem, reports: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(reports.map((path) => readTextFile(fileSystem, path)));
  return texts.flatMap((text) => (text ?? '').split('\n').filter((line) => DROPPED.test(line)));
}

/** LevelDB in two directories under the data directory. */
export function classicStore(directory: string, fileSystem: FileSystem = nodeFileSystem): Store {
  const pathOf = (name: DatabaseName) => join(directory, name);
  return {
    async exists(name) {
      try {
        return (await fileSystem.readdir(pathOf(name))).length > 0;
      } catch (error) {
        if (codesOf(error).includes('ENOENT')) return false;
        throw error;
      }
    },

    async open(name, mode) {
      const database = new ClassicLevel<Buffer, Buffer>(pathOf(name), {
        keyEncoding: 'buffer',
        valueEncoding: 'buffer',
      });
      // Never the defaults: with a missing CURRENT they take the store for a new one and delete its tables.
      await database.open({ createIfMissing: mode === 'create', errorIfExists: false });
      return database;
    },

    async destroy(name) {
      await fileSystem.rm(pathOf(name), { recursive: true, force: true });
    },

    async dropped(name) {
      const reports = name === 'log' ? ['LOG'] : ['LOG', 'LOG.old'];
      return await droppedLines(
        fileSystem,
        reports.map((report) => join(pathOf(name), report)),
      );
    },
  };
}
