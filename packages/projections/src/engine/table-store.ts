import { assert, decodeValue } from '@turnlog/events';
import type {
  AbstractBatchOptions,
  AbstractIterator,
  AbstractIteratorOptions,
  AbstractLevel,
  AbstractSnapshot,
} from 'abstract-level';
import { causeCodes, ProjectionError, storageError } from '../errors.ts';
import type { KeyRange } from './physical-keys.ts';

/** The database of the projections: keys in UTF-8, values as bytes. */
export type ProjectionDatabase = AbstractLevel<string | Buffer | Uint8Array, string, Buffer>;

/** `sync` and `highWaterMarkBytes` are LevelDB's own; a database in memory passes over them. */
type WriteOptions = AbstractBatchOptions<string, Buffer> & { sync: boolean };

type ReadOptions = AbstractIteratorOptions<string, Buffer> & { highWaterMarkBytes: number };

/** One write of a batch; without a value the row goes. */
export interface Write {
  key: string;
  value?: Buffer;
}

const ROWS_AT_ONCE = 256;
const READ_AHEAD_BYTES = 256 * 1024;

/**
 * The open database. What holds after a crash: a batch is there whole or not at all, and with it every
 * batch before it (a killed process loses none that was answered; a power loss may lose the last ones, see
 * `opening.ts`). After a write that failed nothing more is written through this handle, for LevelDB would
 * acknowledge what it loses on reopening; reads go on.
 */
export class TableStore {
  readonly #database: ProjectionDatabase;
  #failure: ProjectionError | undefined;
  /** Called with the write that failed. */
  onFailure: (failure: ProjectionError) => void = () => undefined;

  constructor(database: ProjectionDatabase) {
    assert(database.supports.explicitSnapshots, 'the database has snapshots');
    this.#database = database;
  }

  /** The write that failed, after which this handle only reads. */
  get failure(): ProjectionError | undefined {
    return this.#failure;
  }

  get(key: string, snapshot?: AbstractSnapshot): Buffer | undefined {
    try {
      return this.#database.getSync(key, snapshot === undefined ? {} : { snapshot });
    } catch (error) {
      throw readError(error);
    }
  }

  getValue<Value>(key: string, snapshot?: AbstractSnapshot): Value | undefined {
    const bytes = this.get(key, snapshot);
    return bytes === undefined ? undefined : (decodeValue(bytes) as Value);
  }

  /** Whether any row lies in the range. */
  async has(range: KeyRange): Promise<boolean> {
    for await (const _ of this.rows({ ...range, limit: 1 })) return true;
    return false;
  }

  /** The rows of a range in the order of their keys, as the snapshot holds them, else as they are now. */
  async *rows(range: KeyRange, snapshot?: AbstractSnapshot): AsyncGenerator<[key: string, value: Buffer]> {
    if (range.limit === 0) return;
    let iterator: AbstractIterator<ProjectionDatabase, string, Buffer> | undefined;
    try {
      const options: ReadOptions = {
        ...range,
        ...(snapshot && { snapshot }),
        highWaterMarkBytes: READ_AHEAD_BYTES,
      };
      iterator = this.#database.iterator(options);
      const atOnce = Math.min(range.limit ?? ROWS_AT_ONCE, ROWS_AT_ONCE);
      for (let rows = await iterator.nextv(atOnce); rows.length > 0; rows = await iterator.nextv(atOnce))
        yield* rows;
    } catch (error) {
      throw readError(error);
    } finally {
      await iterator?.close();
    }
  }

  snapshot(): AbstractSnapshot {
    try {
      return this.#database.snapshot();
    } catch (error) {
      throw readError(error);
    }
  }

  /**
   * Writes all or nothing. `sync` waits until it is on the disk, and everything before it.
   * @throws ProjectionError `storage_full`, `store_failed`; from then on every write is refused
   */
  async write(writes: readonly Write[], { sync = false } = {}): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const operations = writes.map(({ key, value }) =>
      value === undefined ? ({ type: 'del', key } as const) : ({ type: 'put', key, value } as const),
    );
    try {
      const options: WriteOptions = { sync };
      await this.#database.batch(operations, options);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Takes a range away, not all at once: what a crash leaves of it must be harmless. */
  async clear(range: KeyRange): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await this.#database.clear(range);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Lets everything written reach the disk, in the way that the database's home knows. */
  async settle(how: (database: ProjectionDatabase) => Promise<void> | undefined): Promise<void> {
    try {
      await how(this.#database);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** @throws ProjectionError where the database could not be closed */
  async close(): Promise<void> {
    try {
      await this.#database.close();
    } catch (error) {
      throw storageError(error, 'the projections could not be closed');
    }
  }

  #fail(error: unknown): ProjectionError {
    if (this.#database.status !== 'open') return readError(error);
    this.#failure ??= storageError(error, 'the projections could not be written');
    this.onFailure(this.#failure);
    return this.#failure;
  }
}

const NOT_OPEN = new Set(['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN', 'LEVEL_SNAPSHOT_NOT_OPEN']);

function readError(error: unknown): ProjectionError {
  if (causeCodes(error).some((code) => NOT_OPEN.has(code))) {
    return new ProjectionError('store_closed', 'the projections are closed', undefined, { cause: error });
  }
  if (causeCodes(error).includes('LEVEL_CORRUPTION')) {
    return new ProjectionError(
      'store_damaged',
      'a table of the projections is damaged: rebuild them',
      undefined,
      {
        cause: error,
      },
    );
  }
  return storageError(error, 'the projections could not be read');
}
