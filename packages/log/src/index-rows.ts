import { hash } from 'node:crypto';
import type { Envelope } from '@turnlog/events';
import { NUMBER_BYTES, numberBytes, numberOf, writeNumber } from './seq-key.ts';
import type { Row } from './store.ts';

/*
 * The rows of the index database.
 *
 *   e <stream> <revision>  → seq        every event of a stream in order
 *   h <stream>             → revision   the head of a stream
 *   i <id>                 → seq        the event of an id that a caller gave
 *   m <name>               → …          the checkpoint and the mark of how it was closed
 *
 * Streams and ids stand as the first sixteen bytes of their SHA-256, so that hostile names are keys like any
 * other. Whoever follows a row to its event checks that the event bears the name.
 */

const NAME_BYTES = 16;
const EVENT_ROW = 0x65;
const HEAD_ROW = 0x68;
const ID_ROW = 0x69;

export const CHECKPOINT_KEY = Buffer.from('m checkpoint');
export const MARK_KEY = Buffer.from('m mark');

/** What the index keeps of an event. */
export interface IndexEntry {
  seq: number;
  stream: string;
  revision: number;
  /** The id that its caller gave. */
  id: string | undefined;
}

export function entryOf(envelope: Envelope): IndexEntry {
  const { seq, stream, revision, id } = envelope;
  return { seq, stream, revision, id: id.startsWith('#') ? undefined : id };
}

/** A name as the rows hold it. */
export function nameBytes(name: string): Buffer {
  return hash('sha256', name, 'buffer').subarray(0, NAME_BYTES);
}

export function eventKey(stream: Buffer, revision: number): Buffer {
  const key = Buffer.allocUnsafe(1 + NAME_BYTES + NUMBER_BYTES);
  key[0] = EVENT_ROW;
  key.set(stream, 1);
  writeNumber(key, revision, 1 + NAME_BYTES);
  return key;
}

export function revisionOfEventKey(key: Buffer): number | undefined {
  return numberOf(key, 1 + NAME_BYTES);
}

export function headKey(stream: Buffer): Buffer {
  return namedKey(HEAD_ROW, stream);
}

export function idKey(id: string): Buffer {
  return namedKey(ID_ROW, nameBytes(id));
}

/** The rows of a batch of events, with the checkpoint that belongs to them. */
export function rowsOf(entries: readonly IndexEntry[], nameOf: (stream: string) => Buffer): Row[] {
  const rows: Row[] = [];
  const heads = new Map<string, number>();
  const put = (key: Buffer, value: Buffer) => rows.push([key, value]);
  for (const { seq, stream, revision, id } of entries) {
    const seqBytes = numberBytes(seq);
    put(eventKey(nameOf(stream), revision), seqBytes);
    if (id !== undefined) put(idKey(id), seqBytes);
    heads.set(stream, revision);
  }
  for (const [stream, revision] of heads) put(headKey(nameOf(stream)), numberBytes(revision));
  const last = entries.at(-1);
  if (last !== undefined) put(CHECKPOINT_KEY, numberBytes(last.seq));
  return rows;
}

function namedKey(row: number, name: Buffer): Buffer {
  const key = Buffer.allocUnsafe(1 + NAME_BYTES);
  key[0] = row;
  key.set(name, 1);
  return key;
}
