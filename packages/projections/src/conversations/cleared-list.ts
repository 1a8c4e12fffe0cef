import type { MaybePromise } from '../engine/projection.ts';
import { numberKey, type TableReader, type TableWriter } from '../engine/projection.ts';
import { MARKS } from './tables.ts';

// Which conversations were cleared and not begun again, in the order of clearing. It outlives the rows, so
// that no legacy file can bring back what they held.

/** Conversation key → the seq of its clear. */
const CLEARED = 'cleared';
/** Seq of the clear → conversation key. */
const CLEARED_ORDER = 'cleared_order';
/** Set once something was cleared; from then on there is a list, be it empty. */
const EVER_CLEARED = 'ever_cleared';

export const CLEARED_REF = 'cleared';

/** Whether the conversation was cleared and has not been begun again since. */
export async function isCleared(tables: TableReader, conversationKey: string): Promise<boolean> {
  return (await tables.get<number>(CLEARED, conversationKey)) !== undefined;
}

/** What is on the list keeps its place. */
export async function putOnClearedList(
  tables: TableWriter,
  conversationKey: string,
  seq: number,
): Promise<void> {
  if (await isCleared(tables, conversationKey)) return;
  tables.put(CLEARED, conversationKey, seq);
  tables.put(CLEARED_ORDER, numberKey(seq), conversationKey);
  tables.put(MARKS, EVER_CLEARED, true);
  tables.markDirty(CLEARED_REF);
}

export async function takeOffClearedList(tables: TableWriter, conversationKey: string): Promise<void> {
  const seq = await tables.get<number>(CLEARED, conversationKey);
  if (seq === undefined) return;
  tables.delete(CLEARED, conversationKey);
  tables.delete(CLEARED_ORDER, numberKey(seq));
  tables.markDirty(CLEARED_REF);
}

export async function* clearedInOrder(tables: TableReader): AsyncGenerator<string> {
  for await (const [, conversationKey] of tables.range<string>(CLEARED_ORDER)) yield conversationKey;
}

export function wasEverCleared(tables: TableReader): MaybePromise<boolean | undefined> {
  return tables.get<boolean>(MARKS, EVER_CLEARED);
}
