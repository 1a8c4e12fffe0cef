import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Envelope } from '@turnlog/events';
import { NUMBER_BYTES, numberOf, writeNumber } from './seq-key.ts';
import type { Row } from './store.ts';

/*
 * The rows of the index database.
 *
 *   e <stream> <revision>  → seq        every event of a stream in order
 *   h <stream>             → revision   the head of a stream
 *   i <id>                 → seq        the event of an id that a caller gave
 *   m checkpoint           → seq        the last event that these rows hold
 *   m mark                 → …          how it was closed
 *
 * A number is followed by a CRC-32 of key and number, for LevelDB gives a damaged value back as it is.
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

const CHECKSUM_BYTES = 4;

/** The value of a row that holds a number. */
export function sealedNumber(key: Buffer, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES + CHECKSUM_BYTES);
  writeNumber(bytes, value, 0);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, NUMBER_BYTES), crc32(key)), NUMBER_BYTES);
  return bytes;
}

/** The number that a row holds; undefined where the row is damaged. */
export function numberInRow(key: Buffer, value: Buffer): number | undefined {
  if (value.length !== NUMBER_BYTES + CHECKSUM_BYTES) return undefined;
  const number = value.subarray(0, NUMBER_BYTES);
  return value.readUInt32BE(NUMBER_BYTES) === crc32(number, crc32(key)) ? numberOf(number) : undefined;
}

/** The rows of a batch of events, with the checkpoint that belongs to them. */
export function rowsOf(entries: readonly IndexEntry[], nameOf: (stream: string) => Buffer): Row[] {
  const rows: Row[] = [];
  const heads = new Map<string, number>();
  const put = (key: Buffer, value: number) => rows.push([key, sealedNumber(key, value)]);
  for (const { seq, stream, revision, id } of entries) {
    put(eventKey(nameOf(stream), revision), seq);
    if (id !== undefined) put(idKey(id), seq);
    heads.set(stream, revision);
  }
  for (const [stream, revision] of heads) put(headKey(nameOf(stream)), revision);
  const last = entries.at(-1);
  if (last !== undefined) put(CHECKPOINT_KEY, last.seq);
  return rows;
}

function namedKey(row: number, name: Buffer): Buffer {
  const key = Buffer.allocUnsafe(1 + NAME_BYTES);
  key[0] = row;
  key.set(name, 1);
  return key;
}
