import { assert, decodeValue, encodeValue } from '@turnlog/events';
import { checkpointKey, compareKeys, dirtyPrefix, rangeOfRows, tablePrefix } from './physical-keys.ts';
import type { RangeOptions, TableWriter } from './projection.ts';
import { RowCache } from './row-cache.ts';
import { SortedKeys } from './sorted-keys.ts';
import type { TableStore, Write } from './table-store.ts';

/** Stands for a row that is not there, among what is pending and in the cache. */
const ABSENT = Symbol('absent');

/**
 * The tables of one slot as a fold writes them: what is pending since the last commit, above a cache of
 * what is committed, above the store. Nothing reaches the store before `writes` is written as one batch;
 * a crash or `discard` before that leaves the tables and the checkpoint as they were.
 */
export class BufferedTables implements TableWriter {
  readonly #store: TableStore;
  readonly #slot: string;
  readonly #prefixes = new Map<string, string>();
  readonly #cache: RowCache;
  /** By physical key: the value put last, or ABSENT. */
  readonly #pending = new Map<string, unknown>();
  /** The keys of #pending in order; made once a range asks for it. */
  #pendingKeys: SortedKeys | undefined;
  readonly #marks = new Map<string, number>();
  readonly #hasFiles: boolean;
  /** The seq of the event that is being folded. */
  seq = 0;

  constructor(store: TableStore, slot: string, options: { cacheBytesMax: number; hasFiles: boolean }) {
    this.#store = store;
    this.#slot = slot;
    this.#cache = new RowCache(options.cacheBytesMax);
    this.#hasFiles = options.hasFiles;
  }

  get marksPending(): boolean {
    return this.#marks.size > 0;
  }

  get<Value>(table: string, key: string): Value | undefined {
    const value = this.#read(this.#prefixOf(table) + key);
    return value === ABSENT ? undefined : (value as Value);
  }

  range<Value>(table: string, options: RangeOptions = {}): AsyncGenerator<[key: string, value: Value]> {
    const prefix = this.#prefixOf(table);
    const { limit, ...range } = rangeOfRows(prefix, options);
    // Taken now and not at the first row asked for: writes made after this call are not seen.
    const pending = this.#pendingBetween(range.gt, range.gte, range.lt, options.reverse === true);
    return this.#merge<Value>(prefix, { ...range, ...(limit !== undefined && { limit }) }, pending);
  }

  put(table: string, key: string, value: unknown): void {
    assert(value !== undefined, `a row has a value: ${table}`);
    assert(key.isWellFormed(), `a key is well-formed Unicode: ${table}`);
    this.#setPending(this.#prefixOf(table) + key, value);
  }

  delete(table: string, key: string): void {
    this.#setPending(this.#prefixOf(table) + key, ABSENT);
  }

  async deleteRange(table: string, prefix: string): Promise<void> {
    const ofTable = this.#prefixOf(table);
    for await (const [key] of this.range(table, { prefix })) this.#setPending(ofTable + key, ABSENT);
  }

  markDirty(ref: string): void {
    assert(this.#hasFiles, 'a projection renders the files it marks');
    assert(ref.isWellFormed(), 'a dirty mark is well-formed Unicode');
    this.#marks.set(ref, this.seq);
  }

  /** Everything that brings the store to `checkpoint`: the rows, the marks and the checkpoint itself. */
  writes(checkpoint: number): Write[] {
    const writes: Write[] = [];
    for (const [key, value] of this.#pending) {
      writes.push(value === ABSENT ? { key } : { key, value: encodeValue(value) });
    }
    for (const [ref, seq] of this.#marks) {
      writes.push({ key: dirtyPrefix(this.#slot) + ref, value: encodeValue(seq) });
    }
    writes.push({ key: checkpointKey(this.#slot), value: encodeValue(checkpoint) });
    return writes;
  }

  /** Says that what `writes` answered is in the store. */
  committed(writes: readonly Write[]): void {
    let index = 0;
    for (const [key, value] of this.#pending) {
      const write = writes[index];
      assert(write?.key === key, 'what was written is what was pending');
      this.#cache.set(key, value, write.value?.length ?? 0);
      index += 1;
    }
    this.discard();
  }

  /** Forgets everything that was not written. */
  discard(): void {
    this.#pending.clear();
    this.#pendingKeys = undefined;
    this.#marks.clear();
  }

  #prefixOf(table: string): string {
    let prefix = this.#prefixes.get(table);
    if (prefix === undefined) {
      prefix = tablePrefix(this.#slot, table);
      this.#prefixes.set(table, prefix);
    }
    return prefix;
  }

  #read(key: string): unknown {
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const bytes = this.#store.get(key);
    const value = bytes === undefined ? ABSENT : decodeValue(bytes);
    this.#cache.set(key, value, bytes?.length ?? 0);
    return value;
  }

  #setPending(key: string, value: unknown): void {
    if (this.#pendingKeys !== undefined && !this.#pending.has(key)) this.#pendingKeys.add(key);
    this.#pending.set(key, value);
  }

  #pendingBetween(
    gt: string | undefined,
    gte: string | undefined,
    lt: string,
    reverse: boolean,
  ): [string, unknown][] {
    if (this.#pending.size === 0) return [];
    this.#pendingKeys ??= new SortedKeys(this.#pending.keys());
    const from = gt ?? gte;
    assert(from !== undefined, 'a range begins somewhere');
    const keys = this.#pendingKeys.between(from, lt);
    if (gt !== undefined && keys[0] === gt) keys.shift();
    if (reverse) keys.reverse();
    return keys.map((key) => [key, this.#pending.get(key)]);
  }

  async *#merge<Value>(
    prefix: string,
    { limit = Number.POSITIVE_INFINITY, ...range }: ReturnType<typeof rangeOfRows>,
    pending: readonly [string, unknown][],
  ): AsyncGenerator<[key: string, value: Value]> {
    const direction = range.reverse ? -1 : 1;
    // A pending row may hide a stored one, so that many more may have to be read.
    const stored = this.#store.rows({
      ...range,
      ...(limit + pending.length < Infinity && { limit: limit + pending.length }),
    });
    try {
      let row = await stored.next();
      let index = 0;
      for (let left = limit; left > 0; ) {
        const next = pending[index];
        if (next === undefined && row.done) return;
        const order = next === undefined ? 1 : row.done ? -1 : direction * compareKeys(next[0], row.value[0]);
        let key: string;
        let value: unknown;
        if (next !== undefined && order <= 0) {
          [key, value] = next;
          index += 1;
        } else {
          assert(!row.done, 'a stored row comes next');
          key = row.value[0];
          value = decodeValue(row.value[1]);
        }
        if (order >= 0) row = await stored.next();
        if (value === ABSENT) continue;
        left -= 1;
        yield [key.slice(prefix.length), value as Value];
      }
    } finally {
      await stored.return(undefined);
    }
  }
}
