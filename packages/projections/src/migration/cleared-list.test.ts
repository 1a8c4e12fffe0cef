import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseClearedList } from './cleared-list.ts';

const parse = (text: string) => parseClearedList(Buffer.from(text));

test('cleared list: a whole list gives its entries', () => {
  assert.equal(parse('[]'), { keys: [], unknownEntry: false });
  assert.equal(parse(' [ "a" , "\\u00e9\\n" ] '), { keys: ['a', 'é\n'], unknownEntry: false });
});

test('cleared list: of a torn list whole entries count and the cut one covers what begins so', () => {
  const torn = parse('["thread:a","thread:crew/la');
  assert.equal(torn.keys, ['thread:a']);
  assert.is(torn.cut, 'thread:crew/la');
  assert.is(torn.unknownEntry, false);
  assert.ok(torn.damage?.includes('after 1 whole entries'));
});

test('cleared list: an escape or a character that was cut off says nothing', () => {
  for (const end of ['\\', '\\u', '\\u1', '\\u12', '\\u123']) assert.is(parse(`["a","b${end}`).cut, 'b');
  assert.is(parse('["a","b\\u00e9').cut, 'bé');
  assert.is(parse('["a","\\ud83d').cut, '\ud83d', 'half a pair is the beginning of the whole one');
  const character = Buffer.from('["a","bé');
  assert.is(parseClearedList(character.subarray(0, -1)).cut, 'b');
});

test('cleared list: damage within an entry ends what is known of it', () => {
  assert.is(parse('["a","b\0\0\0\0').cut, 'b');
  assert.is(parse('["a","b\\x41"]').cut, 'b');
  assert.is(parseClearedList(Buffer.from([...Buffer.from('["a","b'), 0xff, ...Buffer.from('c"]')])).cut, 'b');
});

test('cleared list: an entry of which nothing is left can be any', () => {
  const texts = [
    '',
    '[',
    '["',
    '["\\',
    '["a",',
    '["a","',
    '["a","\\u00',
    '["a"\0\0',
    '["a",7]',
    '["a" "b"]',
    '["a",]',
  ];
  for (const text of texts) {
    assert.is(parse(text).unknownEntry, true, JSON.stringify(text));
    assert.is(parse(text).cut, undefined, JSON.stringify(text));
    assert.type(parse(text).damage, 'string');
  }
});

test('cleared list: what is no list of strings says nothing', () => {
  for (const text of ['null', '{}', '"a"', '7', 'garbage', '\0\0\0\0', '{"a":', '\ufeff["a"]']) {
    const { damage, ...list } = parse(text);
    assert.equal(list, { keys: [], unknownEntry: true }, JSON.stringify(text));
    assert.type(damage, 'string');
  }
  const binary = parseClearedList(Buffer.from([0xff, 0xfe, 0x00, 0x5b]));
  assert.is(binary.unknownEntry, true);
});

test('cleared list: cut anywhere, every entry that was begun is whole, covered or unknown', () => {
  const entry = fc.oneof(
    fc.string({ minLength: 1, unit: 'grapheme' }),
    fc.string({ minLength: 1, unit: 'binary' }),
    fc.constantFrom('a"b', '\\', '\u0001', 'thread:ws::main', '😀'),
  );
  const escaped = (text: string) =>
    JSON.stringify(text).replace(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 4 }), fc.boolean(), (entries, ascii) => {
      const parts = entries.map((text) => Buffer.from(ascii ? escaped(text) : JSON.stringify(text)));
      const bytes = Buffer.concat([
        Buffer.from('['),
        ...parts.flatMap((part, place) => (place === 0 ? [part] : [Buffer.from(','), part])),
        Buffer.from(']'),
      ]);
      for (let length = 0; length <= bytes.length; length += 1) {
        const list = parseClearedList(bytes.subarray(0, length));
        let start = 1;
        entries.forEach((text, place) => {
          // An entry is begun with its quote; before it, with the comma that announces it.
          const end = start + (parts[place] as Buffer).length;
          if (length >= end) assert.ok(list.keys.includes(text), `${length} of ${bytes}`);
          else if (length > start) {
            const covered = list.cut !== undefined && text.startsWith(list.cut);
            assert.ok(covered || list.unknownEntry, `${length} of ${bytes}`);
          }
          start = end + 1;
        });
        assert.is(list.damage === undefined, length === bytes.length);
        assert.ok(list.keys.every((key) => entries.includes(key)));
      }
    }),
  );
});

test('cleared list: any bytes are read without an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const list = parseClearedList(Buffer.concat([Buffer.from('["'), bytes]));
      assert.ok(list.unknownEntry || list.cut !== undefined || list.keys.length > 0);
      assert.is.not(list.cut, '');
    }),
  );
});

test.run();
