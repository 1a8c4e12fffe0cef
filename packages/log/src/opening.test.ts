import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Log } from './log.ts';
import { type OpenLogOptions, openLog } from './open-log.ts';
import { classicStore } from './store.ts';
import { collect, failureOf, inDirectory } from './testing/directory.ts';

const clock = () => 1;

function open(directory: string, options: Partial<OpenLogOptions> = {}): Promise<Log> {
  return openLog({ directory, clock, bootId: 'boot-1', ...options });
}

async function fill(directory: string, count: number): Promise<void> {
  const log = await open(directory);
  for (let start = 0; start < count; start += 500) {
    const events = Array.from({ length: Math.min(500, count - start) }, (_, place) => ({
      type: 'said',
      data: { text: `${start + place} ${'x'.repeat(200)}` },
    }));
    await log.append(`s${(start / 500) % 3}`, events);
  }
  await log.close();
}

test('opening: a new directory gets a store, and its marker says ready', () =>
  inDirectory(async (directory) => {
    const data = join(directory, 'data');
    const log = await open(data);
    assert.ok(log.opening.created);
    assert.equal(JSON.parse(await readFile(join(data, 'store.json'), 'utf8')), {
      state: 'ready',
      version: 1,
    });
    await log.close();
    assert.equal((await readdir(data)).sort(), ['index', 'log', 'store.json']);
    const again = await open(data);
    assert.not(again.opening.created);
    await again.close();
  }));

test('opening: an interrupted making goes on', () =>
  inDirectory(async (directory) => {
    await writeFile(join(directory, 'store.json'), '{"state":"creating","version":1}');
    await mkdir(join(directory, 'log'));
    const log = await open(directory);
    assert.is((await log.append('a', [{ type: 't', data: 1 }])).seq, 1);
    await log.close();
  }));

test('opening: databases without a marker are store_damaged and stay as they are', () =>
  inDirectory(async (directory) => {
    await fill(directory, 10);
    await rm(join(directory, 'store.json'));
    const before = await readdir(join(directory, 'log'));
    assert.is((await failureOf(open(directory))).code, 'store_damaged');
    assert.equal(await readdir(join(directory, 'log')), before);
  }));

test('opening: another version is refused, a torn marker is damage', () =>
  inDirectory(async (directory) => {
    await fill(directory, 1);
    await writeFile(join(directory, 'store.json'), '{"state":"ready","version":2}');
    assert.is((await failureOf(open(directory))).code, 'store_version_unknown');
    await writeFile(join(directory, 'store.json'), '{"state":"rea');
    assert.is((await failureOf(open(directory))).code, 'store_damaged');
  }));

test('opening: a missing CURRENT, table or log directory is refused and nothing is deleted', () =>
  inDirectory(async (directory) => {
    await fill(directory, 40_000);
    const log = join(directory, 'log');
    const tables = (await readdir(log)).filter((name) => name.endsWith('.ldb'));
    assert.ok(tables.length > 0);
    for (const name of ['CURRENT', tables[0] ?? '']) {
      await rename(join(log, name), join(directory, 'aside'));
      assert.is((await failureOf(open(directory))).code, 'store_damaged');
      await rename(join(directory, 'aside'), join(log, name));
    }
    const left = await readdir(log);
    assert.ok(tables.every((table) => left.includes(table)));
    const whole = await open(directory);
    assert.is(whole.head(), 40_000);
    await whole.close();
    await rm(log, { recursive: true });
    assert.is((await failureOf(open(directory))).code, 'store_damaged');
  }));

test('opening: a log that ends before what others have seen is refused', () =>
  inDirectory(async (directory) => {
    await fill(directory, 10);
    const error = await failureOf(open(directory, { checkpoints: [{ name: 'conversations', seq: 12 }] }));
    assert.is(error.code, 'store_damaged');
    assert.is(error.details?.seq, 11);
    assert.match(error.message, 'conversations');
    const log = await open(directory, { checkpoints: [{ name: 'conversations', seq: 10 }] });
    log.assertCheckpoint('sessions', 10);
    assert.throws(() => log.assertCheckpoint('sessions', 11), /missing/);
    await log.close();
  }));

test('opening: the index shows that the tail of the log is gone', () =>
  inDirectory(async (directory) => {
    await fill(directory, 100);
    await removeRows(directory, 91, 100);
    for (const bootId of ['boot-1', 'boot-2']) {
      const error = await failureOf(open(directory, { bootId }));
      assert.is(error.code, 'store_damaged');
      assert.is(error.details?.seq, 91);
    }
  }));

test('opening: a gap and a record under a wrong seq are named', () =>
  inDirectory(async (directory) => {
    await fill(directory, 100);
    await removeRows(directory, 50, 52);
    const error = await failureOf(open(directory));
    assert.equal([error.code, error.details?.seq], ['store_damaged', 52]);
  }));

test('opening: the first records of a short log are looked for, too', () =>
  inDirectory(async (directory) => {
    await fill(directory, 5);
    await removeRows(directory, 1, 2);
    const error = await failureOf(open(directory));
    assert.equal([error.code, error.details?.seq], ['store_damaged', 2]);
  }));

test('index: caught up under the same boot, made anew under another or where it cannot be opened', () =>
  inDirectory(async (directory) => {
    await fill(directory, 1200);
    const index = join(directory, 'index');
    const expectWhole = async (bootId: string, rebuilt: boolean) => {
      const log = await open(directory, { bootId });
      assert.is(log.opening.indexRebuilt, rebuilt);
      assert.is((await collect(log.readStream('s1'))).length, 500);
      assert.is(await log.revisionOf('s2'), 200);
      await log.close();
    };
    await expectWhole('boot-2', false);

    await setMark(directory, { version: 2, bootId: 'boot-2', closed: false });
    await expectWhole('boot-2', false);
    await setMark(directory, { version: 2, bootId: 'boot-2', closed: false });
    await expectWhole('boot-3', true);
    await setMark(directory, { version: 99, bootId: 'boot-3', closed: true });
    await expectWhole('boot-3', true);

    await rm(join(index, 'CURRENT'));
    await expectWhole('boot-3', true);
    await rm(index, { recursive: true });
    await expectWhole('boot-3', true);
  }));

test('opening: leftover temporary files are swept', () =>
  inDirectory(async (directory) => {
    await fill(directory, 1);
    await writeFile(join(directory, 'store.json.12-3.tmp'), 'half');
    await (await open(directory)).close();
    assert.not((await readdir(directory)).some((name) => name.endsWith('.tmp')));
  }));

async function removeRows(directory: string, from: number, to: number): Promise<void> {
  const database = await classicStore(directory).open('log', 'existing');
  for (let seq = from; seq <= to; seq++) {
    const key = Buffer.alloc(8);
    key.writeUInt32BE(seq, 4);
    await database.del(key);
  }
  await database.close();
}

async function setMark(directory: string, mark: object): Promise<void> {
  const database = await classicStore(directory).open('index', 'existing');
  await database.put(Buffer.from('m mark'), Buffer.from(JSON.stringify(mark)));
  await database.close();
}

test.run();
