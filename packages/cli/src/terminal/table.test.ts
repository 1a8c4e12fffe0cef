import fc from 'fast-check';
import stringWidth from 'string-width';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { formatTable, truncate } from './table.ts';

const columns = [
  { title: 'KEY', shrinks: true },
  { title: 'MESSAGES', align: 'right' as const },
  { title: 'PROVIDER' },
];

test('table: columns are aligned, and lines have no space at their end', () => {
  assert.is(
    formatTable(columns, [
      ['thread:a', '2', 'codex'],
      ['thread:long', '1000', ''],
    ]),
    'KEY          MESSAGES  PROVIDER\nthread:a            2  codex\nthread:long      1000\n',
  );
});

test('table: what takes two columns of the terminal is counted as two', () => {
  const lines = formatTable(columns, [
    ['日本', '1', 'x'],
    ['👩‍👩‍👧ab', '1', 'x'],
  ]).split('\n');
  assert.equal(
    lines.slice(0, 3).map((line) => stringWidth(line.slice(0, line.search(/PROVIDER|x$/)))),
    [16, 16, 16],
  );
});

test('table: hostile cells become safe and stay on one line', () => {
  const text = formatTable([{ title: 'KEY' }], [['a\u001b[2J\nb']]);
  assert.is(text, 'KEY\na\\x1b[2J\\nb\n');
});

test('table: the widest column that may shrink is cut to fit the terminal', () => {
  const text = formatTable(columns, [['thread:'.padEnd(60, 'x'), '1', 'codex']], { width: 40 });
  for (const line of text.trimEnd().split('\n')) assert.ok(stringWidth(line) <= 40, line);
  assert.match(text, /^thread:x+… +1 {2}codex$/m);
});

test('table: a terminal that is too narrow does not take columns away', () => {
  assert.match(
    formatTable(columns, [['thread:abcdefgh', '1', 'codex']], { width: 5 }),
    /^thread:… +1 {2}codex$/m,
  );
});

test('table: a style does not change the alignment', () => {
  const bold = (cell: string) => `\u001b[1m${cell}\u001b[22m`;
  const plain = formatTable(columns, [['a', '1', 'x']]);
  const styled = formatTable(
    columns.map((column) => ({ ...column, style: bold })),
    [['a', '1', 'x']],
    { titleStyle: bold },
  );
  assert.is(styled.replaceAll(/\u001b\[\d+m/g, ''), plain);
  assert.match(styled, /\u001b\[1mKEY/);
});

test('table: no rows leave the titles, no columns leave nothing', () => {
  assert.is(formatTable(columns, []), 'KEY  MESSAGES  PROVIDER\n');
  assert.is(formatTable([], []), '');
});

test('truncate: never wider than asked, never through an emoji, whole where it fits', () => {
  assert.is(truncate('abcdef', 6), 'abcdef');
  assert.is(truncate('abcdef', 5), 'abcd…');
  assert.is(truncate('日本語', 4), '日…');
  assert.is(truncate('👩‍👩‍👧👩‍👩‍👧', 3), '👩‍👩‍👧…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 20 }), (text, width) => {
      assert.ok(stringWidth(truncate(text, width)) <= width);
    }),
  );
});

test.run();
