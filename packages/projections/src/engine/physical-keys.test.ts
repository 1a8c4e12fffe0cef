import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compareKeys, rangeOfRows, SLOTS, successor, tablePrefix } from './physical-keys.ts';

/** Characters at the edges of UTF-8's lengths and around the surrogates. */
const key = fc
  .array(
    fc.constantFrom(
      '\0',
      'a',
      'b',
      '\x7f',
      '\x80',
      'é',
      '\u07ff',
      '\u0800',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '😀',
      '\u{10ffff}',
    ),
    { maxLength: 6 },
  )
  .map((characters) => characters.join(''));

function bytesOrder(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

test('physical keys: their order is the order of their bytes in UTF-8', () => {
  fc.assert(
    fc.property(key, key, (one, other) => {
      assert.is(Math.sign(compareKeys(one, other)), bytesOrder(one, other));
    }),
  );
});

test('physical keys: the successor of a prefix is above all that begins with it, and nothing lies between', () => {
  fc.assert(
    fc.property(key, key, key, (prefix, rest, other) => {
      const table = `t\0${prefix}`;
      const end = successor(table);
      assert.ok(bytesOrder(table + rest, end) < 0);
      const candidate = `t\0${other}`;
      const inside = bytesOrder(candidate, table) >= 0 && bytesOrder(candidate, end) < 0;
      assert.is(inside, candidate.startsWith(table));
    }),
  );
});

test('physical keys: a range holds what its options say', () => {
  fc.assert(
    fc.property(key, key, fc.option(key), (row, prefix, after) => {
      const ofTable = tablePrefix(SLOTS[0] as string, 't');
      const range = rangeOfRows(ofTable, { prefix, ...(after !== null && { after }) });
      const physical = ofTable + row;
      const inside =
        (range.gt === undefined || bytesOrder(physical, range.gt) > 0) &&
        (range.gte === undefined || bytesOrder(physical, range.gte) >= 0) &&
        bytesOrder(physical, range.lt) < 0;
      assert.is(inside, row.startsWith(prefix) && (after === null || bytesOrder(row, after) > 0));
    }),
  );
});

test('physical keys: a table name holds no NUL and is not empty', () => {
  assert.throws(() => tablePrefix('\x01', ''));
  assert.throws(() => tablePrefix('\x01', 'a\0b'));
});

test.run();
