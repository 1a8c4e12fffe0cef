import { assert, decodeValue } from '@turnlog/events';
import type {
  AbstractBatchOptions,
  AbstractIterator,
  AbstractIteratorOptions,
  AbstractLevel,
  AbstractSnapshot,
} from 'abstract-level';
import { causeCodes, describeError, ProjectionError, storageError } from '../errors.ts';
import type { KeyRange } from './physical-keys.ts';
import { sealed, unsealed } from './sealed-values.ts';

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
 * The open database. Each value is stored behind a checksum that covers it and its key, for LevelDB gives a
 * damaged value back as it is. What holds after a crash: a batch is there whole or not at all, and with it every
 * batch before it (a killed process loses none that was answered; a power loss may lose the last ones, see
 * `opening.ts`). After a write that failed nothing more is written through this handle, for LevelDB would
 * acknowledge what it loses on reopening; reads go on.
 */
export class TableStore {
  readonly #database: ProjectionDatabase;
  #failure: ProjectionError | undefined;
  #damage: ProjectionError | undefined;
  /** Called with the write that failed. */
  onFailure: (failure: ProjectionError) => void = () => undefined;
  /** Called with the first damage that a read has found. */
  onDamage: (damage: ProjectionError) => void = () => undefined;

  constructor(database: ProjectionDatabase) {
    assert(database.supports.explicitSnapshots, 'the database has snapshots');
    this.#database = database;
  }

  /** The write that failed, after which this handle only reads. */
  get failure(): ProjectionError | undefined {
    return this.#failure;
  }

  /** The damage that a read has found, after which everything is to be made anew. */
  get damage(): ProjectionError | undefined {
    return this.#damage;
  }

  get(key: string, snapshot?: AbstractSnapshot): Buffer | undefined {
    let stored: Buffer | undefined;
    try {
      stored = this.#database.getSync(key, snapshot === undefined ? {} : { snapshot });
    } catch (error) {
      throw this.#readError(error);
    }
    return stored === undefined ? undefined : this.#opened(key, stored);
  }

  getValue<Value>(key: string, snapshot?: AbstractSnapshot): Value | undefined {
    const bytes = this.get(key, snapshot);
    return bytes === undefined ? undefined : (decodeValue(bytes) as Value);
  }

  /** Whether any row lies in the range. */
  async has(range: KeyRange): Promise<boolean> {
    for await (const _ of this.storedRows({ ...range, limit: 1 })) return true;
    return false;
  }

  /** The rows of a range in the order of their keys, as the snapshot holds them, else as they are now. */
  async *rows(range: KeyRange, snapshot?: AbstractSnapshot): AsyncGenerator<[key: string, value: Buffer]> {
    for await (const [key, stored] of this.storedRows(range, snapshot))
      yield [key, this.#opened(key, stored)];
  }

  /** The same with their values as they are stored, checksum and all, damaged or not. */
  async *storedRows(
    range: KeyRange,
    snapshot?: AbstractSnapshot,
  ): AsyncGenerator<[key: string, value: Buffer]> {
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
      throw this.#readError(error);
    } finally {
      await iterator?.close();
    }
  }

  snapshot(): AbstractSnapshot {
    try {
      return this.#database.snapshot();
    } catch (error) {
      throw this.#readError(error);
    }
  }

  /**
   * Writes all or nothing. `sync` waits until it is on the disk, and everything before it.
   * @throws ProjectionError `storage_full`, `store_failed`; from then on every write is refused
   */
  async write(writes: readonly Write[], { sync = false } = {}): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const operations = writes.map(({ key, value }) =>
      value === undefined
        ? ({ type: 'del', key } as const)
        : ({ type: 'put', key, value: sealed(key, value) } as const),
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
    if (this.#database.status !== 'open' || isBroken(error)) return this.#readError(error);
    if (this.#failure === undefined) {
      this.#failure = storageError(error, 'the projections could not be written');
      this.onFailure(this.#failure);
    }
    return this.#failure;
  }

  #opened(key: string, stored: Buffer): Buffer {
    const value = unsealed(key, stored);
    if (value === undefined)
      throw this.#foundDamage(`the row ${JSON.stringify(key)} does not fit its checksum`);
    return value;
  }

  #readError(error: unknown): ProjectionError {
    if (causeCodes(error).some((code) => NOT_OPEN.has(code))) {
      return new ProjectionError('store_closed', 'the projections are closed', undefined, { cause: error });
    }
    if (isBroken(error)) return this.#foundDamage(describeError(error), error);
    return storageError(error, 'the projections could not be read');
  }

  #foundDamage(what: string, cause?: unknown): ProjectionError {
    const message = `a table of the projections is damaged: ${what}`;
    const damage = new ProjectionError('store_damaged', message, undefined, { cause });
    if (this.#damage === undefined) {
      this.#damage = damage;
      this.onDamage(damage);
    }
    return damage;
  }
}

/** LevelDB cannot make sense of its files, or they are cut to nothing or gone. */
function isBroken(error: unknown): boolean {
  const brokenFile = /\.(ldb|sst): (Invalid argument|No such file)/u;
  return causeCodes(error).includes('LEVEL_CORRUPTION') || brokenFile.test(describeError(error));
}

const NOT_OPEN = new Set(['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN', 'LEVEL_SNAPSHOT_NOT_OPEN']);
