import { createHash } from 'node:crypto';

/** As many bytes as a key may have. */
const KEY_BYTES_MAX = 4096;

/** Two keys whose digests begin alike, as their files' names would with fewer digits. */
function neighbours(digits: number): [string, string] {
  const seen = new Map<string, string>();
  for (let number = 0; ; number += 1) {
    const key = `thread:${number}`;
    const digest = createHash('sha256').update(key).digest('hex').slice(0, digits);
    const other = seen.get(digest);
    if (other !== undefined) return [other, key];
    seen.set(digest, key);
  }
}

/** Keys that are allowed and unpleasant; no two of them are the same key. */
export const HOSTILE_KEYS: readonly string[] = [
  'plain',
  ' ',
  '\0',
  '\0\0a',
  'a\0b',
  '\n',
  '\r\n\t',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'undefined',
  'null',
  'NaN',
  '0',
  '-1',
  '#1',
  '#',
  ':',
  '::',
  'thread:',
  'web:',
  'thread:thread:',
  'web:thread:',
  'thread:\0',
  'conversation:thread:a',
  '1:a',
  '3:a:b',
  '.',
  '..',
  '../../../etc/passwd',
  '..\\..\\windows\\system32',
  '/',
  '/etc/passwd',
  'C:\\x',
  'a/b/../c',
  './a',
  'CON',
  'nul.txt',
  'a.json',
  '.tmp',
  '%2e%2e%2f',
  '~',
  '$(id)',
  '`id`',
  "'; DROP TABLE events; --",
  '"',
  '\\',
  '\\u0000',
  '{"a":1}',
  '[]',
  '{"conversations":{',
  '</script><script>alert(1)</script>',
  '\u001b[2J\u001b]0;title\u0007',
  '\u202Etxt.exe',
  '\u200B',
  '\uFEFF',
  '\u2028\u2029',
  '\u0085',
  'é',
  'e\u0301',
  'É',
  'Å',
  '\u212B',
  'ﬀ',
  'ff',
  'ß',
  'ẞ',
  'SS',
  'İ',
  'ı',
  'i',
  'I',
  'name',
  'Name',
  'NAME',
  'name.',
  'name ',
  ' name',
  'name\u00A0',
  // In this order as bytes of UTF-8, and the other way round as units of UTF-16.
  '\uFFFD',
  '\uFFFF',
  '\u{10000}',
  '\u{1F600}',
  '\u{10FFFF}',
  '\u{10FFFF}\u{10FFFF}',
  '\uE000',
  '\uD7FF',
  '👩‍👩‍👧',
  'שלום',
  '語'.repeat(Math.floor(KEY_BYTES_MAX / 3)),
  'k'.repeat(KEY_BYTES_MAX),
  `${'k'.repeat(KEY_BYTES_MAX - 1)}K`,
  ...neighbours(6),
];

/** What no key may be. */
export const NO_KEYS: readonly unknown[] = [
  '',
  '\uD800',
  'a\uDC00',
  '\uDC00\uD800',
  'k'.repeat(KEY_BYTES_MAX + 1),
  '語'.repeat(Math.ceil(KEY_BYTES_MAX / 3) + 1),
  null,
  0,
  true,
  [],
  ['a'],
  {},
  { toString: 'a' },
];

/** Texts may be anything at all. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  '\uD800',
  '\uDC00\uD800',
  'a\uDBFFb',
  '\uFFFD\uD800',
  'x'.repeat(20_000),
  '\u0000'.repeat(100),
  '"}],"messages":[',
  ...HOSTILE_KEYS,
];

/** JSON of every kind, as a row, an argument or a result may be; the same again after JSON and back. */
export const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0.5,
  1e300,
  5e-324,
  2 ** 60,
  '',
  '\uD800',
  [],
  [[], [[]], [null]],
  {},
  { '': '' },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"hasOwnProperty":null,"toJSON":"x"}'),
  { '\0': '\0', '\uD800': '\uDC00', 'a.b': { 'c/d': ['e'] } },
  { id: '__proto__', text: '1' },
  { kind: 'user', text: '\u001b[31m', time: '10:00' },
  JSON.parse('{"then":"no promise","length":-1,"type":"payload_part"}'),
  nested(200),
];

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

/** Too deep for anything that walks a value by itself. */
export function tooDeep(): unknown {
  return JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
}

/** What comes to the other side of a connection. */
export function overTheWire<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
