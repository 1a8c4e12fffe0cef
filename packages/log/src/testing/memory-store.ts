import { MemoryLevel } from 'memory-level';
import type { Database, DatabaseName, Store } from '../store.ts';

/** A store in memory that survives closing: opened again it holds what it held. */
export function memoryStore(): Store {
  const databases = new Map<DatabaseName, Database>();
  return {
    exists: async (name) => databases.has(name),
    async open(name, mode) {
      let database = databases.get(name);
      if (database === undefined) {
        if (mode === 'existing') throw new Error(`${name} does not exist`);
        database = new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
        databases.set(name, database);
      }
      await database.open();
      return database;
    },
    async destroy(name) {
      databases.delete(name);
    },
    dropped: async () => [],
  };
}
