import { assert, type TurnlogError } from '@turnlog/events';
import { LogError, readErrorOf } from './errors.ts';
import { eventKey, headKey, type IndexEntry, idKey, numberInRow, revisionOfEventKey } from './index-rows.ts';
import type { Database } from './store.ts';

/** Where an event of a stream lies. */
export type StreamPlace = Pick<IndexEntry, 'revision' | 'seq'>;

export const PLACES_PER_PAGE = 32;

const EMPTY = Buffer.alloc(0);

/** Reads the rows of the index database and holds each to its checksum. */
export class IndexReader {
  readonly #database: Database;
  readonly #damage: (what: string) => LogError;

  /** @param damage what to throw where a row is damaged */
  constructor(database: Database, damage: (what: string) => LogError) {
    this.#database = database;
    this.#damage = damage;
  }

  /** The number of each row, undefined where there is no such row. */
  async numbersOf(keys: readonly Buffer[]): Promise<(number | undefined)[]> {
    const values = await this.#valuesOf(keys);
    return keys.map((key, place) => {
      const value = values[place];
      return value === undefined ? undefined : this.#numberIn(key, value);
    });
  }

  /** The places of a stream's events from a revision on, in pages. */
  async *placesOf(stream: Buffer, fromRevision: number): AsyncGenerator<StreamPlace[], void, undefined> {
    const bounds = { gte: eventKey(stream, fromRevision), lte: eventKey(stream, Number.MAX_SAFE_INTEGER) };
    const iterator = this.#database.iterator(bounds);
    try {
      for (;;) {
        const rows = await iterator.nextv(PLACES_PER_PAGE);
        if (rows.length === 0) return;
        yield rows.map(([key, value]) => this.#placeOf(key, value));
      }
    } catch (error) {
      throw this.#readError(error);
    } finally {
      await iterator.close();
    }
  }

  /** Those events that a lookup by stream or by id does not find as they are. */
  async misses(entries: readonly IndexEntry[], nameOf: (stream: string) => Buffer): Promise<IndexEntry[]> {
    const numbersOf = async (keys: Buffer[]) => {
      const values = await this.#valuesOf(keys);
      return keys.map((key, place) => numberInRow(key, values[place] ?? EMPTY));
    };
    let found: (number | undefined)[][];
    try {
      found = await Promise.all([
        numbersOf(entries.map(({ stream, revision }) => eventKey(nameOf(stream), revision))),
        numbersOf(entries.map(({ id }) => idKey(id ?? ''))),
        numbersOf(entries.map(({ stream }) => headKey(nameOf(stream)))),
      ]);
    } catch (error) {
      // A table that cannot be read finds nothing.
      if (error instanceof LogError && error.details?.database === 'index') return [...entries];
      throw error;
    }
    const [seqs = [], seqsOfIds = [], heads = []] = found;
    return entries.filter(
      ({ seq, id, revision }, place) =>
        seqs[place] !== seq ||
        (id !== undefined && seqsOfIds[place] !== seq) ||
        (heads[place] ?? 0) < revision,
    );
  }

  async #valuesOf(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    if (keys.length === 0) return [];
    const values = await this.#database.getMany([...keys]).catch((error: unknown) => {
      throw this.#readError(error);
    });
    assert(values.length === keys.length, 'every key is answered');
    return values;
  }

  #readError(cause: unknown): TurnlogError {
    const error = readErrorOf(cause);
    return error.code === 'store_damaged' ? this.#damage(error.message) : error;
  }

  #placeOf(key: Buffer, value: Buffer): StreamPlace {
    const revision = revisionOfEventKey(key);
    if (revision === undefined) throw this.#damage('a key holds no revision');
    return { revision, seq: this.#numberIn(key, value) };
  }

  #numberIn(key: Buffer, value: Buffer): number {
    const number = numberInRow(key, value);
    if (number === undefined) throw this.#damage('a row does not fit its checksum');
    return number;
  }
}
