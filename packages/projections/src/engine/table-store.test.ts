import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ProjectionError } from '../errors.ts';
import { MemoryDatabase } from '../testing/memory-database.ts';
import { TableStore } from './table-store.ts';

const row = (key: string) => [{ key, value: Buffer.from(key) }];

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => 'done',
    (error: ProjectionError) => error.code,
  );
}

test('table store: after a failed write it only reads, though the database would write again', async () => {
  for (const [message, code] of [
    ['IO error: 000003.log: No space left on device', 'storage_full'],
    ['IO error: 000003.log: Input/output error', 'store_failed'],
  ] as const) {
    const database = new MemoryDatabase();
    const store = new TableStore(await database.open());
    const failures: string[] = [];
    store.onFailure = (failure) => failures.push(failure.code);
    await store.write(row('a'));
    database.writeError = new Error('Batch failed', { cause: new Error(message) });
    assert.is(await codeOf(store.write(row('b'))), code);
    database.writeError = undefined;
    assert.is(await codeOf(store.write(row('c'))), code);
    assert.is(await codeOf(store.clear({ gte: 'a', lt: 'b' })), code);
    assert.equal(failures, [code]);
    assert.equal(store.get('a'), Buffer.from('a'));
    assert.is(store.get('c'), undefined);
    await store.close();
  }
});

test('table store: a write is all or nothing, and a snapshot does not see it', async () => {
  const store = new TableStore(await new MemoryDatabase().open());
  await store.write(row('a'));
  const snapshot = store.snapshot();
  await store.write([{ key: 'a' }, ...row('b')]);
  assert.is(store.get('a'), undefined);
  assert.equal(store.get('a', snapshot), Buffer.from('a'));
  assert.is(await store.has({ gte: 'a', lt: 'b' }), false);
  assert.is(await store.has({ gte: 'a', lt: 'c' }), true);
  await snapshot.close();
  await store.close();
  assert.is(await codeOf(store.write(row('d'))), 'store_closed');
});

test.run();
