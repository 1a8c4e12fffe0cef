import { encodeValue } from '@turnlog/events';
import type { AbstractSnapshot } from 'abstract-level';
import { dirtyPrefix, filePrefix, rangeOfPrefix } from './physical-keys.ts';
import type { TableStore, Write } from './table-store.ts';

export interface MarkedRefsOptions {
  /** Which of them are wanted. */
  isDue(ref: string): boolean;
  snapshot: AbstractSnapshot | undefined;
  atOnceMax: number;
}

/** The files of a slot that do not show what its tables hold, some at once. */
export async function* markedRefs(
  store: TableStore,
  slot: string,
  { isDue, snapshot, atOnceMax }: MarkedRefsOptions,
): AsyncGenerator<string[]> {
  const prefix = dirtyPrefix(slot);
  let refs: string[] = [];
  for await (const [key] of store.rows(rangeOfPrefix(prefix), snapshot)) {
    const ref = key.slice(prefix.length);
    if (isDue(ref)) refs.push(ref);
    if (refs.length < atOnceMax) continue;
    yield refs;
    refs = [];
  }
  if (refs.length > 0) yield refs;
}

/** A file that was written, or taken away. */
export interface Shown {
  ref: string;
  exists: boolean;
}

/**
 * Takes the marks of files away that show what the tables held at `seq`, where nothing newer was marked since,
 * and keeps which files there are.
 */
export async function clearMarks(
  store: TableStore,
  slot: string,
  shown: readonly Shown[],
  seq: number,
): Promise<void> {
  const writes: Write[] = [];
  for (const { ref, exists } of shown) {
    const file = filePrefix(slot) + ref;
    writes.push(exists ? { key: file, value: encodeValue(true) } : { key: file });
    const mark = dirtyPrefix(slot) + ref;
    const markedAt = store.getValue<number>(mark);
    if (markedAt !== undefined && markedAt <= seq) writes.push({ key: mark });
  }
  if (writes.length > 0) await store.write(writes);
}
