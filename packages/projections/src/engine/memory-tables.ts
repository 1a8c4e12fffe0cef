import { assert, JsonText } from '@turnlog/events';
import type { RangeOptions, TableWriter } from './projection.ts';

interface Table {
  values: Map<string, unknown>;
  /** The keys in the order of their bytes in UTF-8. */
  keys: string[];
}

/**
 * Tables in memory, for the tests of folds. Values are frozen when they are put, so that a fold which
 * changes what belongs to the tables fails; a range answers what the table held when it was asked for.
 */
export class MemoryTables implements TableWriter {
  readonly #tables = new Map<string, Table>();
  /** The marks that no `takeDirty` has taken yet. */
  readonly dirty = new Set<string>();
  /** How many rows were put and taken away, to see that a fold touches few. */
  writes = 0;

  get<Value>(table: string, key: string): Value | undefined {
    return this.#tables.get(table)?.values.get(key) as Value | undefined;
  }

  async *range<Value>(
    table: string,
    options: RangeOptions = {},
  ): AsyncGenerator<[key: string, value: Value]> {
    const { prefix = '', after, reverse = false, limit = Number.POSITIVE_INFINITY } = options;
    const found = this.#tables.get(table);
    if (found === undefined) return;
    const rows: [string, Value][] = [];
    const least = after !== undefined && compareKeys(after, prefix) >= 0 ? after : prefix;
    for (let place = placeOf(found.keys, least); place < found.keys.length; place += 1) {
      const key = found.keys[place] as string;
      if (!key.startsWith(prefix) || (!reverse && rows.length === limit)) break;
      if (key !== after) rows.push([key, found.values.get(key) as Value]);
    }
    if (reverse) rows.reverse();
    yield* rows.slice(0, limit);
  }

  put(table: string, key: string, value: unknown): void {
    assert(key.isWellFormed(), `a table key is well-formed Unicode: ${JSON.stringify(key)}`);
    assert(value !== undefined, `a table row has a value: ${table} ${key}`);
    this.writes += 1;
    const found = this.#open(table);
    if (!found.values.has(key)) found.keys.splice(placeOf(found.keys, key), 0, key);
    found.values.set(key, deepFreeze(value));
  }

  delete(table: string, key: string): void {
    const found = this.#open(table);
    if (!found.values.delete(key)) return;
    this.writes += 1;
    found.keys.splice(placeOf(found.keys, key), 1);
  }

  async deleteRange(table: string, prefix: string): Promise<void> {
    for (const key of this.#open(table).keys.filter((key) => key.startsWith(prefix))) this.delete(table, key);
  }

  markDirty(ref: string): void {
    this.dirty.add(ref);
  }

  /** The dirty marks in the order in which they were first set; they are gone afterwards. */
  takeDirty(): string[] {
    const refs = [...this.dirty];
    this.dirty.clear();
    return refs;
  }

  /** Everything the tables hold, as plain values, to compare two folds. Empty tables are left out. */
  dump(): Record<string, [key: string, value: unknown][]> {
    const filled = [...this.#tables].filter(([, { keys }]) => keys.length > 0);
    filled.sort(([one], [other]) => compareKeys(one, other));
    return Object.fromEntries(
      filled.map(([name, { keys, values }]) => [name, keys.map((key) => [key, plain(values.get(key))])]),
    );
  }

  #open(name: string): Table {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = { values: new Map(), keys: [] };
      this.#tables.set(name, table);
    }
    return table;
  }
}

/** The order of two keys by their bytes in UTF-8, which is not the order of their UTF-16 units. */
export function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** Where a key stands, or would stand, among sorted keys. */
function placeOf(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(keys[middle] as string, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

function plain(value: unknown): unknown {
  if (value instanceof JsonText) return { jsonText: value.text };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
