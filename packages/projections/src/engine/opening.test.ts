import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProjectionError } from '../errors.ts';
import { type DiskDatabase, type Engine, withEngine, withLevelEngine } from '../testing/engine-fixture.ts';
import { operationsProjection, rowsOf } from '../testing/operations-projection.ts';
import type { ProjectionsOptions } from './open-projections.ts';

const put = (key: string) => ({ do: 'put', table: 'one', key, value: key });

async function refusal(promise: Promise<unknown>): Promise<ProjectionError> {
  const error = await promise.catch((cause: unknown) => cause);
  assert.instance(error, ProjectionError);
  return error as ProjectionError;
}

/** Fills a store, closes it, lets `change` happen and opens it again: answers what was noticed. */
async function reopened(
  { source, open, notices, database }: Engine<DiskDatabase>,
  change: (directory: string) => Promise<void>,
  options: Partial<ProjectionsOptions> = {},
): Promise<string[]> {
  const first = await open([operationsProjection()], { isNew: true });
  for (const key of ['a', 'b', 'c']) source.append(put(key));
  await first.flush();
  await first.close();
  await change(database.directory);
  const second = await open([operationsProjection()], options);
  const { value } = await second.read('operations', (tables) => rowsOf(tables, 'one'));
  assert.is(value.length, 3);
  return notices;
}

async function fileIn(directory: string, beginning: string): Promise<string> {
  const name = (await readdir(directory)).find((each) => each.startsWith(beginning));
  return join(directory, name as string);
}

test('opening: a database closed in order is taken as it is, in any run of the kernel', () =>
  withLevelEngine(async (engine) => {
    assert.equal(await reopened(engine, async () => undefined, { bootId: 'boot-2' }), []);
  }));

for (const [what, damage] of [
  ['CURRENT cut to nothing', async (directory: string) => writeFile(join(directory, 'CURRENT'), '')],
  // LevelDB on its own would open this one, without its tables and with the latest rows.
  ['CURRENT gone', async (directory: string) => rm(join(directory, 'CURRENT'))],
  ['the manifest gone', async (directory: string) => rm(await fileIn(directory, 'MANIFEST'))],
  [
    'the manifest overwritten',
    async (directory: string) => writeFile(await fileIn(directory, 'MANIFEST'), 'x'),
  ],
] as const) {
  test(`opening: a database with ${what} is made anew`, () =>
    withLevelEngine(async (engine) => {
      assert.equal(await reopened(engine, damage), ['database_unreadable']);
    }));
}

test('opening: a database that is gone is made anew', () =>
  withLevelEngine(async (engine) => {
    assert.equal(await reopened(engine, (directory) => rm(directory, { recursive: true })), [
      'database_missing',
    ]);
  }));

test('opening: an open database of the same run is gone on with, one of another run is made anew', () =>
  withEngine(async ({ source, database, open, notices }) => {
    await open([operationsProjection()], { isNew: true, bootId: 'boot-1' });
    source.append(put('a'));
    await database.crash();
    const second = await open([operationsProjection()], { bootId: 'boot-1' });
    await second.read('operations', () => undefined);
    assert.equal(notices, []);
    await database.crash();
    const third = await open([operationsProjection()], { bootId: 'boot-2' });
    assert.equal(notices, ['database_unclean']);
    const { value } = await third.read('operations', (tables) => rowsOf(tables, 'one'));
    assert.equal(value, [['a', 'a']]);
  }));

test('opening: a log that ends before a checkpoint is refused, also by what another run left open', () =>
  withEngine(async ({ source, database, open }) => {
    const first = await open([operationsProjection()]);
    for (const key of ['a', 'b', 'c']) source.append(put(key));
    await first.read('operations', () => undefined);
    await database.crash();
    await first.close();
    source.events.length = 2;
    for (const bootId of ['boot-2', 'boot-1', 'boot-3']) {
      const error = await refusal(open([operationsProjection()], { bootId }));
      assert.is(error.code, 'store_damaged');
      assert.equal(error.details, { projection: 'operations', checkpoint: 3, head: 2 });
    }
  }));

test('opening: a database that another has open is refused', () =>
  withLevelEngine(async ({ open }) => {
    await open([operationsProjection()]);
    assert.is((await refusal(open([operationsProjection()]))).code, 'store_locked');
  }));

test('opening: rows whose values are no values are made anew', () =>
  withEngine(async ({ source, database, open, notices }) => {
    const first = await open([operationsProjection()], { isNew: true });
    source.append(put('a'));
    await first.close();
    await database.tamper((level) => level.put('\x01\0checkpoint', Buffer.from([0xc1])));
    const second = await open([operationsProjection()]);
    assert.equal(notices, ['database_unreadable']);
    assert.is((await second.read('operations', (tables) => rowsOf(tables, 'one'))).value.length, 1);
  }));

test('opening: a store that is new or has no such projection yet is no surprise', () =>
  withEngine(async ({ source, open, notices }) => {
    const first = await open([operationsProjection()], { isNew: true });
    source.append(put('a'));
    await first.close();
    const second = await open([operationsProjection(), operationsProjection({ name: 'added' })]);
    assert.is((await second.read('added', (tables) => rowsOf(tables, 'one'))).value.length, 1);
    assert.equal(notices, []);
    await second.close();
    const third = await open([operationsProjection({ name: 'added' })]);
    assert.equal(
      (await third.status()).map(({ name }) => name),
      ['added'],
    );
  }));

test.run();
