import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryTables } from './memory-tables.ts';
import type { RangeOptions } from './projection.ts';

async function keysOf(tables: MemoryTables, options?: RangeOptions): Promise<string[]> {
  const keys: string[] = [];
  for await (const [key] of tables.range('t', options)) keys.push(key);
  return keys;
}

test('memory tables: ranges go by the bytes of UTF-8', async () => {
  const tables = new MemoryTables();
  for (const key of ['b', '\u{1f680}', 'a', '\uffee', 'ab', 'a\u0000']) tables.put('t', key, 1);
  const sorted = ['a', 'a\u0000', 'ab', 'b', '\uffee', '\u{1f680}'];
  assert.equal(await keysOf(tables), sorted);
  assert.equal(await keysOf(tables, { prefix: 'a' }), ['a', 'a\u0000', 'ab']);
  assert.equal(await keysOf(tables, { prefix: 'a', after: 'a' }), ['a\u0000', 'ab']);
  assert.equal(await keysOf(tables, { after: 'aa', limit: 2 }), ['ab', 'b']);
  assert.equal(await keysOf(tables, { prefix: 'b', after: 'a' }), ['b']);
  assert.equal(await keysOf(tables, { prefix: 'a', after: 'b' }), []);
  assert.equal(await keysOf(tables, { reverse: true, limit: 2 }), sorted.slice(-2).reverse());
  assert.equal(await keysOf(tables, { prefix: 'a', after: 'a', reverse: true }), ['ab', 'a\u0000']);
  await tables.deleteRange('t', 'a');
  assert.equal(await keysOf(tables), ['b', '\uffee', '\u{1f680}']);
});

test('memory tables: what was put cannot be changed', () => {
  const tables = new MemoryTables();
  const value = { inner: [1] };
  tables.put('t', 'a', value);
  assert.throws(() => value.inner.push(2), TypeError);
  assert.throws(() => tables.put('t', '\ud800', 1), /well-formed/);
});

test.run();
