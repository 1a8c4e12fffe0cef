import type { Database, DatabaseName, Store } from '../store.ts';

export interface FailingStore extends Store {
  /**
   * From now on writes to this database fail with what this makes.
   * @param more.isWritten the write is on disk all the same
   */
  fail(name: DatabaseName, error: () => Error, more?: { isWritten?: boolean }): void;
  /** From now on this database cannot be opened. */
  failOpening(name: DatabaseName, error: () => Error): void;
  /** Lets everything through again, as LevelDB does once there is room. */
  heal(): void;
  /** Holds writes to this database back until the returned function is called. */
  hold(name: DatabaseName): () => void;
  /** Writes that a handle acknowledged after one of its writes had failed: they are lost. */
  readonly lostWrites: number;
}

interface Failure {
  error: () => Error;
  isWritten: boolean;
}

/**
 * Wraps a store so that its writes can be made to fail or to wait. A handle of which a write has failed goes on
 * like LevelDB's: it acknowledges further writes, and they are gone when it is opened again.
 */
export function failingStore(inner: Store): FailingStore {
  const failures = new Map<DatabaseName, Failure>();
  const openingFailures = new Map<DatabaseName, () => Error>();
  const holds = new Map<DatabaseName, Promise<void>>();
  let lostWrites = 0;

  /** Puts a gate before the chained batch, the only write that the log makes. */
  function gated(database: Database, name: DatabaseName): Database {
    let hasFailed = false;
    const open = database.batch.bind(database) as () => ReturnType<Database['batch']>;
    const batch = () => {
      const chained = open();
      const write = chained.write.bind(chained) as (options?: object) => Promise<void>;
      return Object.assign(chained, {
        write: async (options?: object) => {
          await holds.get(name);
          const failure = failures.get(name);
          if (failure === undefined && !hasFailed) return await write(options);
          if (failure?.isWritten) await write(options);
          else await chained.close();
          hasFailed = true;
          if (failure !== undefined) throw failure.error();
          lostWrites += 1;
        },
      });
    };
    // The same database may be opened again, with a gate of its own.
    return new Proxy(database, {
      get(target, property) {
        if (property === 'batch') return batch;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  return {
    ...inner,
    async open(name, mode) {
      const failure = openingFailures.get(name);
      if (failure !== undefined) throw failure();
      return gated(await inner.open(name, mode), name);
    },
    fail(name, error, { isWritten = false } = {}) {
      failures.set(name, { error, isWritten });
    },
    failOpening(name, error) {
      openingFailures.set(name, error);
    },
    heal() {
      failures.clear();
      openingFailures.clear();
    },
    hold(name) {
      let release: () => void = () => undefined;
      holds.set(name, new Promise((resolve) => (release = resolve)));
      return () => {
        holds.delete(name);
        release();
      };
    },
    get lostWrites() {
      return lostWrites;
    },
  };
}

/** What LevelDB says when the disk is full: only the innermost message tells. */
export function diskFull(): Error {
  const cause = new Error('IO error: /data/log/000003.log: No space left on device');
  return Object.assign(new Error('Batch failed', { cause }), { code: 'LEVEL_IO_ERROR' });
}
