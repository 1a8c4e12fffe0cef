import type { JsonText } from '@turnlog/events';
import { numberKey, type TableReader } from '../engine/projection.ts';

// The tables of the transcripts. A document is one scope's transcript; it is named by the seq of the event
// that first mentioned the scope, so that the keys of its rows are short whatever the scope is called. It
// stays when the transcript is removed, and with it the numbers of its rows and its tombstones.

/** Scope → {@link TranscriptDocument}. */
export const DOCUMENTS = 'transcripts';
/** Document and rowId → {@link RowRecord}. */
export const ROWS = 'transcript_rows';
/** Document and position → rowId: finds a row's neighbours. */
export const ORDER = 'transcript_order';
/** Document and rowId → {@link RowContent}. */
export const CONTENTS = 'transcript_contents';
/** Document and hash → {@link Tombstone}. */
export const TOMBSTONES = 'transcript_tombstones';

export interface TranscriptDocument {
  document: number;
  /** False once it was removed, until something is saved again. */
  exists: boolean;
  rows: number;
  /** The highest rowId ever given in this scope. */
  lastRowId: number;
  /** How many tombstones there are, so that a scope without any need not be asked for them. */
  tombstones: number;
  /** When it last changed, in milliseconds since 1970, as its event says. */
  updatedAt: number;
  updatedSeq: number;
  /** The seq of its last removal as a whole; 0 where there was none. */
  removedSeq: number;
}

/** What is known of a row beside its content. */
export interface RowRecord {
  rowId: number;
  /** Its place among the rows of its document. */
  position: number;
  /** The hash of its content, display time included. */
  content: string;
  identity: string;
  /** The hashes of what it was before, oldest first, at most {@link HISTORY_MAX}. */
  history: readonly string[];
  /** The seq at which it first came, at which it was last put in its place, at which its content last changed. */
  createdSeq: number;
  placedSeq: number;
  updatedSeq: number;
}

/** A row itself, with its place, so that a transcript is read from this table alone. */
export interface RowContent {
  position: number;
  row: JsonText;
}

/** How many earlier contents of a row are remembered. */
export const HISTORY_MAX = 16;

/** Something that was taken away and must not come back with a late save. */
export interface Tombstone {
  /** The seq at which it was last taken away. */
  seq: number;
  /** How often: of rows that are alike, so many must not come back. */
  count: number;
}

export function documentOf(tables: TableReader, scopeId: string) {
  return tables.get<TranscriptDocument>(DOCUMENTS, scopeId);
}

/** The key of something in a document: of a row, a position. */
export function keyIn(document: number, part: number): string {
  return numberKey(document) + numberKey(part);
}

export function tombstoneKey(document: number, hash: string): string {
  return numberKey(document) + hash;
}

/**
 * The rows of a document in the order in which they are shown. One range of one table, so that a fold at
 * work beside it is seen as a whole or not at all.
 */
export async function contentsInOrder(tables: TableReader, document: number): Promise<JsonText[]> {
  const rows: RowContent[] = [];
  for await (const [, content] of tables.range<RowContent>(CONTENTS, { prefix: numberKey(document) })) {
    rows.push(content);
  }
  return rows.sort((one, other) => one.position - other.position).map(({ row }) => row);
}
