import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  assertRecord,
  decodeRecord,
  decodeValue,
  encodeRecord,
  encodeRecordOf,
  encodeValue,
  generatedId,
} from './codec.ts';
import { EventError } from './errors.ts';
import { JsonText } from './json-text.ts';

/** Text of every kind: lone surrogates, NUL and U+FFFD among it, short and long. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 90 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom('\uD800', 'a\uDC00b', '\uFFFD', '__proto__', '\0', ''),
);

const fieldName = fc.oneof(
  fc.string({ unit: 'binary' }).filter((name) => name !== '__proto__' && name.isWellFormed()),
  fc.constantFrom('constructor', 'toJSON', 'hasOwnProperty', 'length', '__proto_', '0', ''),
);

const { value: jsonLike } = fc.letrec((self) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }).filter((number) => !Object.is(number, -0)),
    fc.json().map((json) => new JsonText(json)),
    fc.array(self('value'), { maxLength: 6 }),
    fc.dictionary(fieldName, self('value'), { maxKeys: 6, noNullPrototype: true }),
  ),
}));

const envelope = fc.record(
  {
    id: fieldName.filter((id) => !id.startsWith('#')),
    stream: fieldName,
    revision: fc.integer({ min: 1 }),
    type: fieldName,
    v: fc.integer({ min: 1, max: 9 }),
    at: fc.maxSafeInteger(),
    meta: fc.record(
      { bridgeId: text, through: fc.nat(), commandId: text },
      { requiredKeys: [], noNullPrototype: true },
    ),
    data: jsonLike,
  },
  { requiredKeys: ['stream', 'revision', 'type', 'v', 'at', 'meta', 'data'] },
);

const seqs = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

test('value: whatever JSON can hold comes back the same', () => {
  fc.assert(
    fc.property(jsonLike, (value) => {
      assert.ok(isDeepStrictEqual(decodeValue(encodeValue(value)), value));
    }),
    { numRuns: 1000 },
  );
});

test('value: the same value gives the same bytes', () => {
  fc.assert(
    fc.property(jsonLike, (value) => {
      const bytes = encodeValue(value);
      assert.equal(encodeValue(decodeValue(bytes)), bytes);
    }),
  );
});

test('value: a lone surrogate survives at every length', () => {
  for (const length of [1, 31, 32, 63, 64, 65, 255, 256, 70_000]) {
    const value = { text: `${'x'.repeat(length - 1)}\uD83D`, list: ['\uDE00', 'plain'] };
    assert.equal(decodeValue(encodeValue(value)), value);
  }
});

test('value: an opaque value keeps its text, and a raw lone surrogate in it keeps its meaning', () => {
  const kept = '{"__proto__": 1, "a":"\\ud800", "b" : "\\u0000"}';
  assert.is((decodeValue(encodeValue({ row: new JsonText(kept) })) as { row: JsonText }).row.text, kept);
  const raw = decodeValue(encodeValue(new JsonText('"\uD800x😀"'))) as JsonText;
  assert.is(raw.parse(), '\uD800x😀');
});

test('value: undefined fields are left out', () => {
  assert.equal(decodeValue(encodeValue({ a: undefined, b: [undefined], c: 1 })), { b: [null], c: 1 });
  assert.equal(encodeValue({ a: undefined, c: 1 }), encodeValue({ c: 1 }));
});

test('value: a field name that cannot be kept is refused', () => {
  for (const value of [JSON.parse('{"__proto__":1}'), { a: [{ '\uD800': 1 }] }]) {
    assert.throws(() => encodeValue(value), isError('invalid_argument'));
  }
});

test('value: bytes that are no whole value are store_damaged', () => {
  const bytes = encodeValue({ a: 'some text' });
  assert.throws(() => decodeValue(bytes.subarray(0, -1)), isError('store_damaged'));
  assert.throws(() => decodeValue(Buffer.concat([bytes, bytes])), isError('store_damaged'));
});

test('record: an envelope comes back the same under its seq', () => {
  fc.assert(
    fc.property(seqs, envelope, (seq, given) => {
      const record = encodeRecord(seq, given);
      const expected = { ...given, seq, id: given.id ?? generatedId(seq) };
      assert.ok(isDeepStrictEqual(decodeRecord(seq, record), expected));
      assert.equal(encodeRecord(seq, given), record);
    }),
  );
});

test('record: a flipped bit anywhere is found, and so is another seq', () => {
  fc.assert(
    fc.property(seqs, envelope, fc.nat(), fc.integer({ min: 1, max: 255 }), (seq, given, place, flip) => {
      const record = encodeRecord(seq, given);
      const flipped = Buffer.from(record);
      const at = place % flipped.length;
      flipped.writeUInt8(flipped.readUInt8(at) ^ flip, at);
      assert.throws(() => decodeRecord(seq, flipped), isDamage(seq));
      assert.throws(() => assertRecord(seq, flipped), isDamage(seq));
      assertRecord(seq, record);
      assert.throws(() => decodeRecord(seq, record.subarray(0, at)), isDamage(seq));
      const other = seq === 1 ? 2 : seq - 1;
      assert.throws(() => decodeRecord(other, record), isDamage(other));
    }),
  );
});

test('record: what is usual is left out', () => {
  const usual = { stream: 's', revision: 1, type: 't', v: 1, at: 5, meta: {}, data: 7 };
  const record = encodeRecord(1, usual);
  const [checksumBytes, payload] = [record.subarray(0, 4), record.subarray(4)];
  assert.equal(decodeValue(payload), { stream: 's', revision: 1, type: 't', at: 5, data: 7 });
  assert.is(checksumBytes.length, 4);
});

test('record: one whose data lies before it says in how many parts', () => {
  const head = { stream: 's', revision: 4, type: 't', v: 1, at: 5, meta: {}, parts: 3 };
  const decoded = decodeRecord(4, encodeRecordOf(4, head, undefined));
  assert.is(decoded.parts, 3);
  assert.is(decoded.data, undefined);
});

test('record: an id that begins with # is never stored', () => {
  const given = { id: '#1', stream: 's', revision: 1, type: 't', v: 1, at: 5, meta: {}, data: 7 };
  assert.throws(() => encodeRecord(1, given), isError('internal'));
});

test('record: bytes that fit their checksum but are no envelope are store_damaged', () => {
  const stray = encodeRecord(1, { stream: 's', revision: 0, type: 't', v: 1, at: 5, meta: {}, data: 7 });
  assert.throws(() => decodeRecord(1, stray), isDamage(1));
});

function isError(code: string): (error: unknown) => boolean {
  return (error) => (error as EventError).code === code;
}

function isDamage(seq: number): (error: unknown) => boolean {
  return (error) =>
    error instanceof EventError && error.code === 'store_damaged' && error.details?.seq === seq;
}

test.run();
