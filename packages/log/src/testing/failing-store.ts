import type { Database, DatabaseName, Store } from '../store.ts';

export interface FailingStore extends Store {
  /** From now on writes to this database fail with what this makes. */
  fail(name: DatabaseName, error: () => Error): void;
  /** Lets writes through again, as LevelDB does once there is room. */
  heal(): void;
  /** Holds writes to this database back until the returned function is called. */
  hold(name: DatabaseName): () => void;
}

/** Wraps a store so that its writes can be made to fail or to wait. */
export function failingStore(inner: Store): FailingStore {
  const failures = new Map<DatabaseName, () => Error>();
  const holds = new Map<DatabaseName, Promise<void>>();

  async function gate(name: DatabaseName): Promise<void> {
    await holds.get(name);
    const failure = failures.get(name);
    if (failure !== undefined) throw failure();
  }

  return {
    ...inner,
    async open(name, mode) {
      return gated(await inner.open(name, mode), () => gate(name));
    },
    fail: (name, error) => failures.set(name, error),
    heal: () => failures.clear(),
    hold(name) {
      let release: () => void = () => undefined;
      holds.set(name, new Promise((resolve) => (release = resolve)));
      return () => {
        holds.delete(name);
        release();
      };
    },
  };
}

/** Puts a gate before the chained batch, the only write that the log makes. */
function gated(database: Database, gate: () => Promise<void>): Database {
  const open = database.batch.bind(database) as () => ReturnType<Database['batch']>;
  const batch = () => {
    const chained = open();
    const write = chained.write.bind(chained) as (options?: object) => Promise<void>;
    return Object.assign(chained, {
      write: async (options?: object) => {
        await gate();
        await write(options);
      },
    });
  };
  return Object.assign(database, { batch });
}

/** What LevelDB says when the disk is full: only the innermost message tells. */
export function diskFull(): Error {
  const cause = new Error('IO error: /data/log/000003.log: No space left on device');
  return Object.assign(new Error('Batch failed', { cause }), { code: 'LEVEL_IO_ERROR' });
}
