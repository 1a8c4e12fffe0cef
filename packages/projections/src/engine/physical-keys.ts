import { assert } from '@turnlog/events';
import type { RangeOptions } from './projection.ts';

/*
 * How rows lie in the one database of the projections. A physical key is
 *
 *     <slot> <table> NUL <key>        the rows of a table
 *     <slot> NUL checkpoint           the seq up to which the slot's rows are made
 *     <slot> NUL dirty NUL <ref>      a file that no longer shows what the tables hold
 *     <slot> NUL file NUL <ref>       a file that was written
 *     NUL meta                        the boot and the clean-close mark
 *     NUL slot NUL <projection>       which slot is the projection's, and its version
 *
 * A slot is one build of one projection: one byte, 0x01 to 0x7E. Keys are UTF-8, whose byte order is the
 * order of code points. What the engine keeps has the empty table name, so it stands before all tables.
 */

export const META_KEY = '\0meta';
export const CATALOGUE_PREFIX = '\0slot\0';

/** Every slot there is: two builds of each of 63 projections. */
export const SLOTS: readonly string[] = Array.from({ length: 0x7e }, (_, index) =>
  String.fromCharCode(index + 1),
);

export function checkpointKey(slot: string): string {
  return `${slot}\0checkpoint`;
}

export function dirtyPrefix(slot: string): string {
  return `${slot}\0dirty\0`;
}

export function filePrefix(slot: string): string {
  return `${slot}\0file\0`;
}

export function tablePrefix(slot: string, table: string): string {
  assert(
    table !== '' && !table.includes('\0') && table.isWellFormed(),
    `no table name: ${JSON.stringify(table)}`,
  );
  return `${slot}${table}\0`;
}

/** A part of the database, as an iterator of abstract-level takes it. */
export interface KeyRange {
  gt?: string;
  gte?: string;
  lt: string;
  reverse?: boolean;
  limit?: number;
}

/** Everything whose key begins with `prefix`. */
export function rangeOfPrefix(prefix: string): KeyRange {
  return { gte: prefix, lt: successor(prefix) };
}

/** The rows of all tables of a slot, without what the engine itself keeps there. */
export function rangeOfTables(slot: string): KeyRange {
  return { gte: `${slot}\u0001`, lt: successor(slot) };
}

/** The rows that `options` means in the table whose keys begin with `ofTable`. */
export function rangeOfRows(ofTable: string, options: RangeOptions): KeyRange {
  const prefix = ofTable + (options.prefix ?? '');
  const after = options.after === undefined ? undefined : ofTable + options.after;
  const startsAfter = after !== undefined && compareKeys(after, prefix) >= 0;
  return {
    ...(startsAfter ? { gt: after } : { gte: prefix }),
    lt: successor(prefix),
    ...(options.reverse && { reverse: true }),
    ...(options.limit !== undefined && { limit: options.limit }),
  };
}

/** The least key that is above every key beginning with `prefix`. */
export function successor(prefix: string): string {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.length > 0) {
    const last = points.pop() as number;
    if (last === 0x10ffff) continue;
    // 0xD800 to 0xDFFF are surrogates, which no key holds.
    return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  throw new Error('assertion failed: a prefix of nothing but the last code point has no successor');
}

/** The order of two well-formed strings by their bytes in UTF-8. */
export function compareKeys(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  for (let index = 0; index < shorter; index += 1) {
    const left = one.charCodeAt(index);
    const right = other.charCodeAt(index);
    if (left === right) continue;
    // Two units of a surrogate pair stand for a code point above every single unit.
    return orderOf(left) - orderOf(right);
  }
  return one.length - other.length;
}

function orderOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
