import type { CommittedEvent } from '@turnlog/events';

/** A value, or a promise of it where the disk must be asked. */
export type MaybePromise<Value> = Value | Promise<Value>;

export interface RangeOptions {
  /** Only keys that begin with this. */
  prefix?: string;
  /** Only keys after this one. */
  after?: string;
  reverse?: boolean;
  limit?: number;
}

/**
 * Reads a projection's tables. A key is a string of well-formed Unicode, ordered by its bytes in UTF-8; a
 * value is anything the event codec holds (plain objects, arrays, strings, numbers, `JsonText`).
 */
export interface TableReader {
  get<Value>(table: string, key: string): MaybePromise<Value | undefined>;
  /** Rows in the order of their keys. */
  range<Value>(table: string, options?: RangeOptions): AsyncIterable<[key: string, value: Value]>;
}

/**
 * What a fold may do. Reads see the writes made before them. A value that was read or put belongs to the
 * tables: put a new object instead of changing it.
 */
export interface TableWriter extends TableReader {
  put(table: string, key: string, value: unknown): void;
  delete(table: string, key: string): void;
  /** Takes away every row whose key begins with `prefix`. */
  deleteRange(table: string, prefix: string): Promise<void>;
  /** The file of `ref` no longer shows what the tables hold. Written with the rows, gone once rendered. */
  markDirty(ref: string): void;
}

/** A pure fold over the log: the same events give the same rows and the same files, byte for byte. */
export interface Projection {
  readonly name: string;
  /** Another number means: fold anew. */
  readonly version: number;
  /**
   * Earlier versions whose tables have the same shape, so that their rows can be read, folded on and rendered
   * until those of this version are made. While there are rows of any other version reads wait.
   */
  readonly readableVersions?: readonly number[];
  evolve(tables: TableWriter, event: CommittedEvent): MaybePromise<void>;
  /** The file of a dirty mark, relative to the data directory, with `/` between its parts. */
  fileOf?(ref: string): string;
  /** The whole content of that file, or undefined where there must be none. */
  render?(tables: TableReader, ref: string): Promise<string | undefined>;
}

/** A number as a table key of eight characters whose byte order is the order of the numbers. */
export function numberKey(value: number): string {
  return value.toString(36).padStart(8, '0');
}
