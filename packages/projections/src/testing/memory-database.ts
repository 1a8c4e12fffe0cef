import { MemoryLevel } from 'memory-level';
import type { DatabaseHome } from '../engine/level-database.ts';
import type { ProjectionDatabase } from '../engine/table-store.ts';

/** A database in memory that outlives being closed, and whose writes can be made to fail. */
export class MemoryDatabase implements DatabaseHome {
  #database = emptyDatabase();
  /** Thrown by every write while it is set. */
  writeError: Error | undefined;
  /** Thrown by every opening while it is set. */
  openError: Error | undefined;
  /** Writes that a handle acknowledged after one of its writes had failed: like LevelDB's they are lost. */
  lostWrites = 0;

  async open(): Promise<ProjectionDatabase> {
    if (this.openError !== undefined) throw this.openError;
    const database = this.#database;
    await database.open();
    let hasFailed = false;
    // The class's own: the object's may be that of an earlier opening.
    const write = MemoryLevel.prototype.batch.bind(database) as (...parameters: unknown[]) => Promise<void>;
    const failing = async (...parameters: unknown[]) => {
      if (this.writeError !== undefined) {
        hasFailed = true;
        throw this.writeError;
      }
      if (hasFailed) this.lostWrites += 1;
      else await write(...parameters);
    };
    Object.defineProperty(database, 'batch', { value: failing, configurable: true });
    return database;
  }

  async discard(): Promise<void> {
    this.#database = emptyDatabase();
  }

  /** As if the process was killed: the next open finds what is written now, whatever is written after it. */
  async crash(): Promise<void> {
    const copy = emptyDatabase();
    await copy.open();
    const rows = await this.#database.iterator().all();
    await copy.batch(rows.map(([key, value]) => ({ type: 'put', key, value })));
    await copy.close();
    this.#database = copy;
  }

  /** Changes rows behind the engine's back. */
  async tamper(change: (database: ProjectionDatabase) => Promise<void>): Promise<void> {
    await this.#database.open();
    await change(this.#database);
  }
}

function emptyDatabase(): MemoryLevel<string, Buffer> {
  return new MemoryLevel<string, Buffer>({ keyEncoding: 'utf8', valueEncoding: 'buffer' });
}
