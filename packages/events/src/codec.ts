import { crc32 } from 'node:zlib';
import { addExtension, Packr, RESERVE_START_SPACE } from 'msgpackr';
import type { Envelope, EventMeta } from './envelope.ts';
import { assert, EventError } from './errors.ts';
import { JsonText } from './json-text.ts';

/*
 * The bytes of turnlog: values as self-describing msgpack, and the records of the log.
 *
 * A record is a CRC-32 of four bytes, big-endian, and a msgpack map of the envelope without its seq. The
 * checksum covers the eight bytes of the seq and then the map, so that a record found under another seq is
 * as damaged as one with a flipped bit. The map leaves out a generated `id`, an empty `meta` and a `v` of 1;
 * `data` comes last. The same envelope always gives the same bytes, and no record needs another to be read:
 * records are never rewritten.
 */

const CHECKSUM_BYTES = 4;
const JSON_TEXT_TYPE = 1;
const ILL_FORMED_STRING_TYPE = 2;

/** A string with a lone surrogate, which UTF-8 cannot hold: kept as JSON text, which escapes it. */
class IllFormedString {
  constructor(readonly value: string) {}
}

addExtension({
  Class: JsonText,
  type: JSON_TEXT_TYPE,
  pack: (value: JsonText) => Buffer.from(escapeLoneSurrogates(value.text)),
  unpack: (bytes) => new JsonText(textOf(bytes)),
});
addExtension({
  Class: IllFormedString,
  type: ILL_FORMED_STRING_TYPE,
  pack: (wrapped: IllFormedString) => Buffer.from(JSON.stringify(wrapped.value)),
  unpack: (bytes) => JSON.parse(textOf(bytes)),
});

/** `skipValues` is msgpackr's own, though its types do not name it: such fields are left out. */
const options = {
  useRecords: false,
  variableMapSize: true,
  encodeUndefinedAsNil: true,
  useToJSON: false,
  skipValues: [undefined],
};
const packr = new Packr(options);

/**
 * Encodes anything that JSON can hold, {@link JsonText} and byte arrays. Fields that are undefined are left
 * out; undefined elements of an array become null.
 * @throws EventError `invalid_argument` for a field name that cannot be kept: `__proto__`, or ill-formed Unicode
 */
export function encodeValue(value: unknown): Buffer {
  const bytes = packr.pack(value);
  return mayHaveLost(bytes) ? packr.pack(keepable(value)) : bytes;
}

/** @throws EventError `store_damaged` where the bytes are no whole value */
export function decodeValue(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes);
  } catch (cause) {
    throw new EventError('store_damaged', 'a stored value cannot be decoded', undefined, { cause });
  }
}

/** An envelope as it is stored: without its seq and, where its caller gave none, without id. */
export interface RecordHead {
  id?: string;
  stream: string;
  revision: number;
  type: string;
  v: number;
  at: number;
  meta: EventMeta;
  /** How many records just before this one hold its data; it has none of its own then. */
  parts?: number;
}

/** What a record holds. `data` is undefined where `parts` says that it lies in the records before. */
export type StoredEnvelope = Envelope & { parts?: number };

/** Encodes one record of the log. */
export function encodeRecord(seq: number, envelope: Omit<RecordHead, 'parts'> & { data: unknown }): Buffer {
  return encodeRecordOf(seq, envelope, encodeValue(envelope.data));
}

const DATA_KEY = Buffer.from([0xa4, ...Buffer.from('data')]);
const FIXED_MAP = 0x80;
const FIXED_MAP_FIELDS_MAX = 15;

/**
 * Encodes one record whose data is encoded already, or lies in the records before it.
 * @param data what {@link encodeValue} made of the event's data
 */
export function encodeRecordOf(seq: number, head: RecordHead, data: Uint8Array | undefined): Buffer {
  assert((data === undefined) === (head.parts !== undefined), 'a record has data or parts');
  const fields = encodeHead(head);
  if (data === undefined) return seal(seq, fields);

  const mapHeader = fields.readUInt8(CHECKSUM_BYTES);
  assert(mapHeader >= FIXED_MAP && mapHeader < FIXED_MAP + FIXED_MAP_FIELDS_MAX, 'the head is a short map');
  const record = Buffer.allocUnsafe(fields.length + DATA_KEY.length + data.length);
  record.set(fields, 0);
  record.set(DATA_KEY, fields.length);
  record.set(data, fields.length + DATA_KEY.length);
  record.writeUInt8(mapHeader + 1, CHECKSUM_BYTES);
  return seal(seq, record);
}

/**
 * @param seq the place under which the record was found
 * @throws EventError `store_damaged`, naming the seq, where the checksum does not fit
 */
export function decodeRecord(seq: number, record: Uint8Array): StoredEnvelope {
  const payload = checkedPayload(seq, record);
  let stored: Partial<StoredEnvelope>;
  try {
    stored = packr.unpack(payload);
  } catch (cause) {
    throw damaged(seq, 'cannot be decoded', cause);
  }
  const { id, stream, revision, type, v, at, data, meta, parts } = stored ?? {};
  if (
    typeof stream !== 'string' ||
    typeof type !== 'string' ||
    !isCount(revision) ||
    typeof at !== 'number'
  ) {
    throw damaged(seq, 'is no envelope');
  }
  return {
    seq,
    id: id ?? generatedId(seq),
    stream,
    revision,
    type,
    v: v ?? 1,
    at,
    data,
    meta: meta ?? {},
    ...(parts !== undefined && { parts }),
  };
}

/**
 * Checks a record without decoding it.
 * @throws EventError `store_damaged`, naming the seq, where the checksum does not fit
 */
export function assertRecord(seq: number, record: Uint8Array): void {
  checkedPayload(seq, record);
}

/** The id of an event whose caller gave none. Never stored, so callers' ids may not begin with `#`. */
export function generatedId(seq: number): string {
  return `#${seq}`;
}

function encodeHead({ id, stream, revision, type, v, at, meta, parts }: RecordHead): Buffer {
  assert(id === undefined || !id.startsWith('#'), 'an id from a caller does not begin with #');
  const fields = {
    stream,
    revision,
    type,
    v: v === 1 ? undefined : v,
    at,
    id,
    meta: isEmpty(meta) ? undefined : meta,
    parts,
  };
  const bytes = packr.pack(fields, RESERVE_START_SPACE | CHECKSUM_BYTES);
  return mayHaveLost(bytes) ? packr.pack(keepable(fields), RESERVE_START_SPACE | CHECKSUM_BYTES) : bytes;
}

function checkedPayload(seq: number, record: Uint8Array): Buffer {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  if (bytes.length <= CHECKSUM_BYTES) throw damaged(seq, 'is cut short');
  const payload = bytes.subarray(CHECKSUM_BYTES);
  if (bytes.readUInt32BE(0) !== checksum(seq, payload)) throw damaged(seq, 'does not fit its checksum');
  return payload;
}

function seal(seq: number, record: Buffer): Buffer {
  record.writeUInt32BE(checksum(seq, record.subarray(CHECKSUM_BYTES)), 0);
  return record;
}

const seqBytes = Buffer.alloc(8);

function checksum(seq: number, payload: Uint8Array): number {
  assert(isCount(seq), 'a seq is a whole number from 1 on');
  seqBytes.writeUInt32BE(Math.floor(seq / 2 ** 32), 0);
  seqBytes.writeUInt32BE(seq % 2 ** 32, 4);
  return crc32(payload, crc32(seqBytes));
}

const REPLACEMENT_CHARACTER = Buffer.from('\uFFFD');
const PROTO = Buffer.from('__proto__');

/**
 * Whether msgpack may have changed something: it writes U+FFFD for a lone surrogate and reads `__proto__`
 * under another name. Looking at the bytes costs far less than walking every value; it may cry wolf.
 */
function mayHaveLost(bytes: Buffer): boolean {
  return bytes.includes(REPLACEMENT_CHARACTER) || bytes.includes(PROTO);
}

/** The value with each ill-formed string wrapped. */
function keepable(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : new IllFormedString(value);
  if (Array.isArray(value)) return value.map(keepable);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof JsonText || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      if (field === '__proto__' || !field.isWellFormed()) {
        throw new EventError('invalid_argument', `a field named ${JSON.stringify(field)} cannot be stored`, {
          field,
        });
      }
      return [field, keepable(inner)];
    }),
  );
}

/** In JSON a surrogate stands only within a string, where its escape means the same. */
function escapeLoneSurrogates(json: string): string {
  if (json.isWellFormed()) return json;
  return json.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isEmpty(meta: EventMeta): boolean {
  return Object.values(meta).every((value) => value === undefined);
}

function damaged(seq: number, what: string, cause?: unknown): EventError {
  return new EventError('store_damaged', `the record of event ${seq} ${what}`, { seq }, { cause });
}
