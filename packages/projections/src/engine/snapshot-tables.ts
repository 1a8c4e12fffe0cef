import { assert, decodeValue } from '@turnlog/events';
import type { AbstractSnapshot } from 'abstract-level';
import { checkpointKey, rangeOfRows, tablePrefix } from './physical-keys.ts';
import type { RangeOptions, TableReader } from './projection.ts';
import type { TableStore } from './table-store.ts';

/** The tables of a slot as they were at one seq, whatever is written meanwhile. */
export class SnapshotTables implements TableReader {
  constructor(
    readonly store: TableStore,
    readonly slot: string,
    readonly snapshot: AbstractSnapshot,
  ) {}

  /** The seq up to which these rows are made. */
  get seq(): number {
    return checkpointOf(this.store, this.slot, this.snapshot);
  }

  get<Value>(table: string, key: string): Value | undefined {
    return this.store.getValue<Value>(tablePrefix(this.slot, table) + key, this.snapshot);
  }

  async *range<Value>(
    table: string,
    options: RangeOptions = {},
  ): AsyncGenerator<[key: string, value: Value]> {
    const prefix = tablePrefix(this.slot, table);
    for await (const [key, bytes] of this.store.rows(rangeOfRows(prefix, options), this.snapshot)) {
      yield [key.slice(prefix.length), decodeValue(bytes) as Value];
    }
  }
}

/** The checkpoint of a slot, 0 where nothing was written to it yet. */
export function checkpointOf(store: TableStore, slot: string, snapshot?: AbstractSnapshot): number {
  const seq = store.getValue<number>(checkpointKey(slot), snapshot) ?? 0;
  assert(Number.isSafeInteger(seq) && seq >= 0, `a checkpoint is a seq: ${seq}`);
  return seq;
}
