import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeFileSystem } from '@turnlog/log';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProjectionError } from '../errors.ts';
import { timerClock, withEngine, withLevelEngine } from '../testing/engine-fixture.ts';
import { operationsProjection, rowsOf } from '../testing/operations-projection.ts';
import { HeldFiles } from './held-files.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Projections } from './projections.ts';

const put = (key: string) => ({ do: 'put', table: 'one', key, value: key });
const DISK_FULL = new Error('IO error: /x/000003.log: No space left on device');

async function rejection(promise: Promise<unknown>): Promise<ProjectionError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  assert.instance(error, ProjectionError);
  return error as ProjectionError;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 600; left > 0; left -= 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('what was waited for did not come about');
}

const keysIn = async (projections: Projections) =>
  (await projections.read('operations', (tables) => rowsOf(tables, 'one'))).value.map(([key]) => key);

/** A disk that is full while `isFull`, a clock that runs, and little patience. */
function onDisk() {
  const disk = { isFull: false };
  const statfs = (async (path: string) => {
    const found = await nodeFileSystem.statfs?.(path);
    return disk.isFull ? { ...found, bavail: 0 } : found;
  }) as NonNullable<typeof nodeFileSystem.statfs>;
  const options = {
    clock: timerClock,
    fileSystem: { ...nodeFileSystem, statfs },
    limits: { reopenDelayMs: 5, reopenDelayMsMax: 20, renderDelayMs: 1 },
  };
  return { disk, options };
}

test('healing: after a failed write reads go on and see everything, nothing is written, and room mends it', () =>
  withEngine(async ({ source, database, open }) => {
    const { disk, options } = onDisk();
    const projections = await open([operationsProjection()], options);
    source.append(put('a'));
    assert.equal(await keysIn(projections), ['a']);
    disk.isFull = true;
    database.writeError = DISK_FULL;
    source.append(put('b'));
    assert.equal(await keysIn(projections), ['a', 'b'], 'what could not be written is read all the same');
    assert.is(projections.failure?.code, 'storage_full');
    database.writeError = undefined;
    source.append(put('c'));
    for (let round = 0; round < 3; round += 1) {
      const { value, seq } = await projections.read('operations', (tables) => rowsOf(tables, 'one'));
      assert.equal([value.length, seq], [3, 3]);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const [status] = await projections.status();
    assert.equal([status?.state, status?.seq, status?.lag], ['failed', 1, 2]);
    assert.is((await rejection(projections.flush())).code, 'storage_full');
    disk.isFull = false;
    await until(() => projections.failure === undefined);
    await projections.flush();
    assert.equal(await keysIn(projections), ['a', 'b', 'c']);
    assert.is(database.lostWrites, 0);
    assert.is((await projections.check())[0]?.equal, true);
  }));

test('healing: reads in memory are bounded, and a fold that fails there fails as it would', () =>
  withEngine(async ({ source, database, open }) => {
    const { disk, options } = onDisk();
    const limits = { ...options.limits, unwrittenEventsMax: 3 };
    const projections = await open([operationsProjection()], { ...options, limits });
    source.append(put('a'));
    await projections.flush();
    disk.isFull = true;
    database.writeError = DISK_FULL;
    source.append(put('b'));
    assert.equal(await keysIn(projections), ['a', 'b']);
    source.append({ do: 'fail' });
    for (let round = 0; round < 2; round += 1) {
      assert.equal((await rejection(keysIn(projections))).details, {
        ...{ projection: 'operations', seq: 3, type: 'turn_output' },
      });
    }
    source.append(put('c'));
    source.append(put('d'));
    assert.is(
      (await rejection(keysIn(projections))).code,
      'storage_full',
      'too much to be folded for a read',
    );
  }));

test('healing: while the database cannot be opened reads are refused with the reason, and later go on', () =>
  withEngine(async ({ source, database, open }) => {
    const { options } = onDisk();
    const projections = await open([operationsProjection()], options);
    source.append(put('a'));
    await projections.flush();
    database.openError = DISK_FULL;
    database.writeError = DISK_FULL;
    source.append(put('b'));
    await until(async () => (await projections.status())[0]?.seq === 0);
    const [status] = await projections.status();
    assert.equal([status?.state, status?.error?.code], ['failed', 'storage_full']);
    assert.is((await rejection(keysIn(projections))).code, 'storage_full');
    database.writeError = undefined;
    database.openError = undefined;
    await until(() => projections.failure === undefined);
    assert.equal(await keysIn(projections), ['a', 'b']);
  }));

test('healing: a log that could not be read for a while is followed again', () =>
  withEngine(async ({ source, open }) => {
    const { options } = onDisk();
    const projections = await open([operationsProjection()], options);
    source.readError = DISK_FULL;
    source.append(put('a'));
    assert.is((await rejection(keysIn(projections))).code, 'storage_full');
    source.readError = undefined;
    await until(() => projections.failure === undefined);
    assert.equal(await keysIn(projections), ['a']);
  }));

test('healing: reads under way over a reopening are run again, and it may be closed in the middle', () =>
  withEngine(async ({ source, database, open }) => {
    const { options } = onDisk();
    const projections = await open([operationsProjection()], options);
    for (let round = 0; round < 20; round += 1) {
      source.append(put(`key ${round}`));
      database.writeError = DISK_FULL;
      source.append(put(`other ${round}`));
      const reads = Array.from({ length: 5 }, () => keysIn(projections));
      await new Promise((resolve) => setImmediate(resolve));
      database.writeError = undefined;
      for (const keys of await Promise.all(reads)) assert.is(keys.length, 2 * (round + 1));
    }
    database.writeError = DISK_FULL;
    source.append(put('last'));
    await until(() => projections.failure !== undefined);
    await projections.close();
    assert.is((await rejection(keysIn(projections))).code, 'store_closed');
    assert.is(database.lostWrites, 0);
  }));

test('healing: damage that a read finds is said, and everything is made anew while reads wait', () =>
  withEngine(async ({ source, database, open, notices }) => {
    const { options } = onDisk();
    const projections = await open([operationsProjection()], { ...options, isNew: true });
    for (const key of ['a', 'b', 'c']) source.append(put(key));
    await projections.flush();
    await database.tamper(async (level) => {
      const key = (await level.keys().all()).find((each) => /^.one\0b/su.test(each)) ?? '';
      const value = (await level.get(key)) as Buffer;
      value.writeUInt8(value.readUInt8(value.length - 1) ^ 1, value.length - 1);
      await level.put(key, value);
    });
    assert.equal(await keysIn(projections), ['a', 'b', 'c']);
    assert.equal(notices, ['database_damaged']);
    assert.is((await projections.check())[0]?.equal, true);
  }));

test('healing: a table file cut to nothing is found, and everything is made anew', () =>
  withLevelEngine(async ({ source, database, open, notices }) => {
    const { options } = onDisk();
    let projections = await open([operationsProjection()], { ...options, isNew: true });
    for (let index = 0; index < 200; index += 1) source.append(put(`key ${index}`));
    await projections.close();
    const tables = (await readdir(database.directory)).filter((name) => name.endsWith('.ldb'));
    assert.ok(tables.length > 0);
    for (const table of tables) await writeFile(join(database.directory, table), '');
    projections = await open([operationsProjection()], options);
    assert.is((await keysIn(projections)).length, 200);
    assert.ok(['database_unreadable', 'database_damaged'].includes(notices[0] ?? ''), notices.join());
  }));

test('healing: a file that cannot be written waits on its own, and others do not wait for it', () =>
  withEngine(async ({ source, dataDirectory, open }) => {
    const inTheWay = join(dataDirectory, 'shown', 'one.json');
    await mkdir(inTheWay, { recursive: true });
    let attempts = 0;
    const fileSystem = {
      ...nodeFileSystem,
      async rename(from: string, to: string) {
        if (String(to) === inTheWay) attempts += 1;
        await nodeFileSystem.rename(from, to);
      },
    } as typeof nodeFileSystem;
    const limits = { renderDelayMs: 0, renderRetryMs: 60_000, renderRetryMsMax: 60_000 };
    const projections = await open([operationsProjection()], { clock: timerClock, fileSystem, limits });
    source.append(put('a'));
    await until(async () => (await projections.status())[0]?.error !== undefined);
    for (let index = 0; index < 20; index += 1) {
      source.append({ do: 'put', table: 'two', key: `${index}`, value: index });
      await until(async () => (await projections.status())[0]?.waitingFiles === 1);
    }
    const other = JSON.parse(await readFile(join(dataDirectory, 'shown', 'two.json'), 'utf8'));
    assert.is(Object.keys(other).length, 20);
    assert.is(attempts, 1, 'it is not due yet');
    assert.match((await projections.status())[0]?.error?.message ?? '', 'EISDIR');
    await rm(inTheWay, { recursive: true });
    await projections.flush();
    assert.is((await projections.status())[0]?.error, undefined);
    assert.equal(JSON.parse(await readFile(inTheWay, 'utf8')), { a: 'a' });
  }));

test('held files: each failure of a file doubles how long it waits, up to the most', () => {
  const held = new HeldFiles({
    ...DEFAULT_LIMITS,
    renderRetryMs: 100,
    renderRetryMsMax: 1_000,
    heldFilesMax: 2,
  });
  const error = new ProjectionError('store_failed', 'told to fail');
  let now = 0;
  const waits: number[] = [];
  for (let failure = 0; failure < 6; failure += 1) {
    held.failed('one', error, now);
    waits.push(held.nextDueAt - now);
    assert.not(held.isDue('one', held.nextDueAt - 1));
    assert.ok(held.isDue('one', held.nextDueAt));
    now = held.nextDueAt;
  }
  assert.equal(waits, [100, 200, 400, 800, 1_000, 1_000]);
  assert.ok(held.isDue('two', now));
  held.failed('two', error, now);
  assert.ok(held.isFull);
  assert.is(held.nextDueAt, now);
  held.rendered('one');
  held.rendered('two');
  assert.equal([held.isFull, held.error, held.nextDueAt], [false, undefined, Number.POSITIVE_INFINITY]);
});

test.run();
