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

/** Puts a gate before both kinds of batch, the only writes that the log makes. */
function gated(database: Database, gate: () => Promise<void>): Database {
  const batch = database.batch.bind(database) as (...parameters: unknown[]) => unknown;
  const gatedBatch = (...parameters: unknown[]): unknown => {
    if (parameters.length > 0) return gate().then(() => batch(...parameters));
    const chained = batch() as { write: (...options: unknown[]) => Promise<void> };
    const write = chained.write.bind(chained);
    chained.write = async (...options) => {
      await gate();
      await write(...options);
    };
    return chained;
  };
  return Object.assign(database, { batch: gatedBatch });
}

/** What LevelDB says when the disk is full: only the innermost message tells. */
export function diskFull(): Error {
  const cause = new Error('IO error: /data/log/000003.log: No space left on device');
  return Object.assign(new Error('Batch failed', { cause }), { code: 'LEVEL_IO_ERROR' });
}
