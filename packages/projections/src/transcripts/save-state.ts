import { numberKey, type TableReader } from '../engine/projection.ts';
import { TranscriptRow } from './identity.ts';
import {
  CONTENTS,
  documentOf,
  keyIn,
  ROWS,
  type RowContent,
  type RowRecord,
  TOMBSTONES,
  type Tombstone,
  tombstoneKey,
} from './tables.ts';

/** A row that the transcript holds. */
export interface KnownRow extends RowRecord {
  /** What it says; loaded only where no incoming row says exactly the same. */
  row?: TranscriptRow;
}

/** What a save is decided on. */
export interface SaveState {
  scopeId: string;
  exists: boolean;
  /** The seq of the last removal of the whole transcript; 0 where there was none. */
  removedSeq: number;
  /** The seq of the last change; 0 where there was none. */
  updatedSeq: number;
  lastRowId: number;
  /** In the order in which they are shown. */
  rows: readonly KnownRow[];
  /** Those that the incoming rows could meet, by hash. */
  tombstones: ReadonlyMap<string, Tombstone>;
}

/**
 * Loads what `decideSave` needs for these incoming rows: the records of all rows, the contents of those
 * that none of them equals, and the tombstones of those that equal none. So the usual save, in which one
 * row of many differs, reads one content.
 */
export async function loadSaveState(
  tables: TableReader,
  scopeId: string,
  incoming: readonly TranscriptRow[],
): Promise<SaveState> {
  const found = await documentOf(tables, scopeId);
  if (found === undefined) {
    return {
      scopeId,
      exists: false,
      removedSeq: 0,
      updatedSeq: 0,
      lastRowId: 0,
      rows: [],
      tombstones: new Map(),
    };
  }
  const { document, exists, removedSeq, updatedSeq, lastRowId } = found;
  const records: RowRecord[] = [];
  for await (const [, record] of tables.range<RowRecord>(ROWS, { prefix: numberKey(document) })) {
    records.push(record);
  }
  records.sort((one, other) => one.position - other.position);

  const { onlyHere, onlyThere } = differences(records, incoming);
  const rows: KnownRow[] = [];
  for (const record of records) {
    const content = onlyHere.has(record.content)
      ? await tables.get<RowContent>(CONTENTS, keyIn(document, record.rowId))
      : undefined;
    rows.push(content === undefined ? record : { ...record, row: new TranscriptRow(content.row) });
  }
  const tombstones = new Map<string, Tombstone>();
  for (const hash of found.tombstones === 0 ? [] : onlyThere.flatMap((row) => [row.identity, row.content])) {
    const tombstone = await tables.get<Tombstone>(TOMBSTONES, tombstoneKey(document, hash));
    if (tombstone !== undefined) tombstones.set(hash, tombstone);
  }
  return { scopeId, exists, removedSeq, updatedSeq, lastRowId, rows, tombstones };
}

/** The contents of which the transcript holds more rows than come in, and the rows of which more come in. */
function differences(records: readonly RowRecord[], incoming: readonly TranscriptRow[]) {
  const surplus = new Map<string, number>();
  for (const { content } of records) surplus.set(content, (surplus.get(content) ?? 0) + 1);
  for (const { content } of incoming) surplus.set(content, (surplus.get(content) ?? 0) - 1);
  const onlyHere = new Set([...surplus].filter(([, count]) => count > 0).map(([content]) => content));
  const onlyThere = incoming.filter(({ content }) => (surplus.get(content) ?? 0) < 0);
  return { onlyHere, onlyThere };
}
