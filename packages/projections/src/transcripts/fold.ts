import type { CommittedEvent, EventData, JsonText } from '@turnlog/events';
import { numberKey, type TableWriter } from '../engine/projection.ts';
import { isDurableIdentity, TranscriptRow } from './identity.ts';
import { placeAfter } from './placing.ts';
import {
  CONTENTS,
  DOCUMENTS,
  documentOf,
  HISTORY_MAX,
  keyIn,
  ORDER,
  ROWS,
  type RowRecord,
  TOMBSTONES,
  type Tombstone,
  type TranscriptDocument,
  tombstoneKey,
} from './tables.ts';

// The fold of the transcripts. It decides nothing: what a save means was decided before it was logged. It
// takes every event that fits the catalogue, also one that names a row which is gone, for the log cannot be
// corrected: such a row is not taken away twice, and what should follow it stands at the end.

type Saved = EventData<'transcript_saved'>['rows'][number];
interface Arrival extends Saved {
  after: number;
  /** Where it is a known row that moves. */
  record: RowRecord | undefined;
}

export async function evolveTranscripts(tables: TableWriter, event: CommittedEvent): Promise<void> {
  if (event.type !== 'transcript_saved' && event.type !== 'transcript_removed') return;
  const { scopeId } = event.data;
  const before = (await documentOf(tables, scopeId)) ?? emptyDocument(event.seq);
  const after =
    event.type === 'transcript_saved'
      ? await save(tables, before, event.data, event.seq)
      : await remove(tables, before, event.seq);
  tables.put(DOCUMENTS, scopeId, { ...after, updatedAt: event.at, updatedSeq: event.seq });
  tables.markDirty(scopeId);
}

function emptyDocument(seq: number): TranscriptDocument {
  return {
    document: seq,
    exists: false,
    rows: 0,
    lastRowId: 0,
    tombstones: 0,
    updatedAt: 0,
    updatedSeq: 0,
    removedSeq: 0,
  };
}

async function save(
  tables: TableWriter,
  before: TranscriptDocument,
  data: EventData<'transcript_saved'>,
  seq: number,
): Promise<TranscriptDocument> {
  const { document } = before;
  let { rows, tombstones } = before;
  for (const rowId of data.removed) {
    const key = keyIn(document, rowId);
    const record = await tables.get<RowRecord>(ROWS, key);
    if (record === undefined) continue;
    tables.delete(ROWS, key);
    tables.delete(CONTENTS, key);
    tables.delete(ORDER, keyIn(document, record.position));
    tombstones += await bury(tables, document, record, seq);
    rows -= 1;
  }

  const arrivals: Arrival[] = [];
  for (const saved of data.rows) {
    const record = await tables.get<RowRecord>(ROWS, keyIn(document, saved.rowId));
    if (record !== undefined && saved.after === undefined) {
      putRow(tables, document, changed(record, saved.row, seq), saved.row);
      continue;
    }
    // All that move leave their places before one is placed, so that none stands in another's way.
    if (record !== undefined) tables.delete(ORDER, keyIn(document, record.position));
    else rows += 1;
    // Coming after itself, which stands nowhere yet, it stands at the end.
    arrivals.push({ ...saved, after: saved.after ?? saved.rowId, record });
  }
  for (const run of runsOf(arrivals)) await place(tables, document, run, seq);

  const lastRowId = data.rows.reduce((highest, { rowId }) => Math.max(highest, rowId), before.lastRowId);
  return { ...before, exists: true, rows, lastRowId, tombstones };
}

/** Rows of which each comes after the one before it, so that they are placed in one step. */
function runsOf(arrivals: readonly Arrival[]): Arrival[][] {
  const runs: Arrival[][] = [];
  for (const arrival of arrivals) {
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1)?.rowId === arrival.after) run.push(arrival);
    else runs.push([arrival]);
  }
  return runs;
}

async function place(tables: TableWriter, document: number, run: readonly Arrival[], seq: number) {
  const positions = await placeAfter(tables, document, run[0]?.after ?? 0, run.length);
  for (const [index, position] of positions.entries()) {
    const { rowId, row, record } = run[index] as Arrival;
    const { content, identity } = new TranscriptRow(row);
    const placed =
      record === undefined
        ? { rowId, content, identity, history: [], createdSeq: seq, updatedSeq: seq }
        : changed(record, row, seq);
    putRow(tables, document, { ...placed, position, placedSeq: seq }, row);
    tables.put(ORDER, keyIn(document, position), rowId);
  }
}

function putRow(tables: TableWriter, document: number, record: RowRecord, row: JsonText): void {
  const key = keyIn(document, record.rowId);
  tables.put(ROWS, key, record);
  tables.put(CONTENTS, key, { position: record.position, row });
}

/** The record of a row that may have got another content. */
function changed(record: RowRecord, row: JsonText, seq: number): RowRecord {
  const { content, identity } = new TranscriptRow(row);
  if (content === record.content) return record;
  const history = [...record.history, record.content].slice(-HISTORY_MAX);
  return { ...record, content, identity, history, updatedSeq: seq };
}

async function remove(
  tables: TableWriter,
  before: TranscriptDocument,
  seq: number,
): Promise<TranscriptDocument> {
  const prefix = numberKey(before.document);
  let { tombstones } = before;
  for await (const [, record] of tables.range<RowRecord>(ROWS, { prefix })) {
    tombstones += await bury(tables, before.document, record, seq);
  }
  for (const table of [ROWS, ORDER, CONTENTS]) await tables.deleteRange(table, prefix);
  return { ...before, exists: false, rows: 0, tombstones, removedSeq: seq };
}

/**
 * Puts a tombstone on all by which a late save could bring a row back: its durable identity, what it said
 * and what it had said before.
 * @returns how many of them are new
 */
async function bury(tables: TableWriter, document: number, record: RowRecord, seq: number): Promise<number> {
  const hashes = new Set([record.content, ...record.history]);
  if (isDurableIdentity(record.identity)) hashes.add(record.identity);
  let added = 0;
  for (const hash of hashes) {
    const key = tombstoneKey(document, hash);
    const earlier = await tables.get<Tombstone>(TOMBSTONES, key);
    if (earlier === undefined) added += 1;
    tables.put(TOMBSTONES, key, { seq, count: (earlier?.count ?? 0) + 1 });
  }
  return added;
}
