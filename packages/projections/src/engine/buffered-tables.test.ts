import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryDatabase } from '../testing/memory-database.ts';
import { BufferedTables } from './buffered-tables.ts';
import { MemoryTables } from './memory-tables.ts';
import type { RangeOptions, TableReader, TableWriter } from './projection.ts';
import { SnapshotTables } from './snapshot-tables.ts';
import { TableStore } from './table-store.ts';

const TABLES = ['t', 'u'] as const;
const table = fc.constantFrom(...TABLES);
const key = fc
  .array(fc.constantFrom('a', 'b', '\uffff', '😀'), { maxLength: 2 })
  .map((parts) => parts.join(''));
const value = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.constant(null),
  fc.constant(false),
  fc.integer().map((n) => ({ n })),
);

const options: fc.Arbitrary<RangeOptions> = fc
  .record({
    prefix: fc.option(key),
    after: fc.option(key),
    reverse: fc.boolean(),
    limit: fc.option(fc.nat(5)),
  })
  .map(({ prefix, after, reverse, limit }) => ({
    reverse,
    ...(prefix !== null && { prefix }),
    ...(after !== null && { after }),
    ...(limit !== null && { limit }),
  }));

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('put' as const), table, key, value }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), table, key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteRange' as const), table, prefix: key }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('get' as const), table, key }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('range' as const), table, options }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('discard' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

async function rows(tables: TableReader, name: string, of: RangeOptions = {}): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const row of tables.range(name, of)) found.push(row);
  return found;
}

async function write(tables: TableWriter, each: Step): Promise<void> {
  if (each.kind === 'put') tables.put(each.table, each.key, each.value);
  if (each.kind === 'delete') tables.delete(each.table, each.key);
  if (each.kind === 'deleteRange') await tables.deleteRange(each.table, each.prefix);
}

async function modelOf(writes: readonly Step[]): Promise<MemoryTables> {
  const model = new MemoryTables();
  for (const each of writes) await write(model, each);
  return model;
}

async function openStore(): Promise<TableStore> {
  return new TableStore(await new MemoryDatabase().open());
}

test('buffered tables: whatever is pending, cached or stored, they read as one table', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 60 }),
    fc.constantFrom(0, 500, 1_000_000),
    async (steps, cacheBytesMax) => {
      const store = await openStore();
      const tables = new BufferedTables(store, '\x01', { cacheBytesMax, hasFiles: false });
      let committed: Step[] = [];
      let all: Step[] = [];
      let model = await modelOf([]);
      for (const each of steps) {
        if (each.kind === 'get') {
          assert.equal(tables.get(each.table, each.key), model.get(each.table, each.key));
        } else if (each.kind === 'range') {
          assert.equal(
            await rows(tables, each.table, each.options),
            await rows(model, each.table, each.options),
          );
        } else if (each.kind === 'commit') {
          const writes = tables.writes(all.length);
          await store.write(writes);
          tables.committed(writes);
          committed = [...all];
        } else if (each.kind === 'discard') {
          tables.discard();
          all = [...committed];
          model = await modelOf(all);
        } else {
          all.push(each);
          await write(tables, each);
          await write(model, each);
        }
      }
      const stored = new SnapshotTables(store, '\x01', store.snapshot());
      const expected = await modelOf(committed);
      for (const name of TABLES) assert.equal(await rows(stored, name), await rows(expected, name));
      await store.close();
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test('buffered tables: a range does not see what is written while it is walked', async () => {
  const store = await openStore();
  const tables = new BufferedTables(store, '\x01', { cacheBytesMax: 0, hasFiles: false });
  for (const name of ['a', 'b', 'c']) tables.put('t', name, name);
  const seen: string[] = [];
  for await (const [name] of tables.range<string>('t')) {
    seen.push(name);
    tables.put('t', `${name}-copy`, name);
    tables.delete('t', name);
  }
  assert.equal(seen, ['a', 'b', 'c']);
  assert.equal(await rows(tables, 't'), [
    ['a-copy', 'a'],
    ['b-copy', 'b'],
    ['c-copy', 'c'],
  ]);
  await store.close();
});

test('buffered tables: keys that UTF-8 cannot keep, rows without a value and marks without files are refused', async () => {
  const store = await openStore();
  const tables = new BufferedTables(store, '\x01', { cacheBytesMax: 0, hasFiles: false });
  assert.throws(() => tables.put('t', '\ud800', 1), /well-formed/);
  assert.throws(() => tables.put('t', 'a', undefined), /has a value/);
  assert.throws(() => tables.markDirty('a'), /renders the files it marks/);
  await store.close();
});

test.run();
