import { assert } from '@turnlog/events';
import { numberKey, type TableWriter } from '../engine/projection.ts';
import { CONTENTS, keyIn, ORDER, ROWS, type RowContent, type RowRecord } from './tables.ts';

// Where rows stand. Positions are whole numbers with gaps, so that a row that comes between two others
// touches neither. Where a gap is used up, the rows of the document are numbered anew.

/** The distance at which rows are appended: 16 times in a row one can come after the same other. */
const GAP = 2 ** 16;
/** The highest number that a part of a table key can hold. */
const POSITION_MAX = 36 ** 8 - 1;

/**
 * Makes room for a run of rows that follow one another.
 * @param after the rowId that they come after, 0 for the beginning; the end, where that row is gone
 * @returns the position of each, rising
 */
export async function placeAfter(
  tables: TableWriter,
  document: number,
  after: number,
  count: number,
): Promise<number[]> {
  assert(count > 0, 'a run has rows');
  const low = await positionOf(tables, document, after);
  const high = await positionFollowing(tables, document, low);
  if (high === undefined && low + GAP * count <= POSITION_MAX) return spread(low, GAP, count);
  const step = high === undefined ? 0 : Math.floor((high - low) / (count + 1));
  if (step >= 1) return spread(low, step, count);
  return renumber(tables, document, low, count);
}

function spread(low: number, step: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => low + step * (place + 1));
}

async function positionOf(tables: TableWriter, document: number, rowId: number): Promise<number> {
  if (rowId === 0) return 0;
  const record = await tables.get<RowRecord>(ROWS, keyIn(document, rowId));
  if (record !== undefined) return record.position;
  const options = { prefix: numberKey(document), reverse: true, limit: 1 };
  for await (const [key] of tables.range(ORDER, options)) return positionIn(key);
  return 0;
}

/** The position of the next row after one; undefined where that is the last. */
async function positionFollowing(tables: TableWriter, document: number, position: number) {
  const options = { prefix: numberKey(document), after: keyIn(document, position), limit: 1 };
  for await (const [key] of tables.range(ORDER, options)) return positionIn(key);
  return undefined;
}

function positionIn(orderKey: string): number {
  return Number.parseInt(orderKey.slice(8), 36);
}

/** Numbers all rows of a document anew and leaves room for `count` rows behind the position `low`. */
async function renumber(
  tables: TableWriter,
  document: number,
  low: number,
  count: number,
): Promise<number[]> {
  const prefix = numberKey(document);
  const before: number[] = [];
  const behind: number[] = [];
  for await (const [key, rowId] of tables.range<number>(ORDER, { prefix })) {
    (positionIn(key) <= low ? before : behind).push(rowId);
  }
  assert((before.length + count + behind.length) * GAP <= POSITION_MAX, 'a transcript has room for its rows');
  await tables.deleteRange(ORDER, prefix);
  for (const [place, rowId] of before.entries()) await moveTo(tables, document, rowId, (place + 1) * GAP);
  const firstBehind = before.length + count + 1;
  for (const [place, rowId] of behind.entries()) {
    await moveTo(tables, document, rowId, (firstBehind + place) * GAP);
  }
  return spread(before.length * GAP, GAP, count);
}

async function moveTo(tables: TableWriter, document: number, rowId: number, position: number): Promise<void> {
  const key = keyIn(document, rowId);
  const record = await tables.get<RowRecord>(ROWS, key);
  const content = await tables.get<RowContent>(CONTENTS, key);
  assert(record !== undefined && content !== undefined, `row ${rowId} stands in the order and is known`);
  tables.put(ROWS, key, { ...record, position });
  tables.put(CONTENTS, key, { ...content, position });
  tables.put(ORDER, keyIn(document, position), rowId);
}
