import type { AbstractSnapshot } from 'abstract-level';
import { dirtyPrefix, rangeOfPrefix } from './physical-keys.ts';
import type { TableStore } from './table-store.ts';

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
