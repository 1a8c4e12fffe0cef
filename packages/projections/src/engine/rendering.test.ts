import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileSystem, nodeFileSystem } from '@turnlog/log';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProjectionError } from '../errors.ts';
import { type Engine, timerClock, withEngine } from '../testing/engine-fixture.ts';
import type { MemoryDatabase } from '../testing/memory-database.ts';
import { operationsProjection } from '../testing/operations-projection.ts';
import type { Projection } from './projection.ts';
import type { Projections } from './projections.ts';

const put = (table: string, key: string, value: unknown = key) => ({ do: 'put', table, key, value });
const remove = (table: string, key: string) => ({ do: 'delete', table, key });

async function shown({ dataDirectory }: Engine<MemoryDatabase>, table: string): Promise<unknown> {
  return await readFile(join(dataDirectory, 'shown', `${table}.json`), 'utf8').then(
    JSON.parse,
    () => undefined,
  );
}

async function rejection(promise: Promise<unknown>): Promise<ProjectionError> {
  const error = await promise.catch((cause: unknown) => cause);
  assert.instance(error, ProjectionError);
  return error as ProjectionError;
}

async function waitingFiles(projections: Projections): Promise<number | undefined> {
  return (await projections.status())[0]?.waitingFiles;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let left = 400; left > 0; left -= 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('what was waited for did not come about');
}

/** A file system whose renames wait to be released, one by one. */
function gatedRenames() {
  let release: (() => void) | undefined;
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    async rename(from, to) {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await nodeFileSystem.rename(from, to);
    },
  };
  return {
    fileSystem,
    waiting: () => release !== undefined,
    release() {
      const open = release;
      release = undefined;
      open?.();
    },
  };
}

/** The projection of the tests, which says also what it rendered. */
function watching(contents: (string | undefined)[]): Projection {
  const projection = operationsProjection();
  return {
    ...projection,
    async render(tables, ref) {
      const content = await projection.render?.(tables, ref);
      contents.push(content);
      return content;
    },
  };
}

const errno = (code: string) => Object.assign(new Error(`${code}: told to fail`), { code });

test('rendering: files follow the tables by themselves, and go with their last row', () =>
  withEngine(async (engine) => {
    const projections = await engine.open([operationsProjection()], { clock: timerClock });
    engine.source.append(put('one', 'a', 1));
    await until(async () => JSON.stringify(await shown(engine, 'one')) === '{"a":1}');
    const { mode } = await stat(join(engine.dataDirectory, 'shown', 'one.json'));
    if (process.platform !== 'win32') assert.is(mode & 0o777, 0o600);
    engine.source.append(remove('one', 'a'));
    await until(async () => (await shown(engine, 'one')) === undefined);
    await until(async () => (await waitingFiles(projections)) === 0);
    engine.source.append(remove('one', 'a'));
    await projections.flush();
    assert.is(await waitingFiles(projections), 0);
  }));

test('rendering: a mark goes only where nothing newer was marked meanwhile', () =>
  withEngine(async (engine) => {
    const gate = gatedRenames();
    const projections = await engine.open([operationsProjection()], { fileSystem: gate.fileSystem });
    engine.source.append(put('one', 'a'));
    const flushing = projections.flush();
    await until(async () => gate.waiting());
    engine.source.append(put('one', 'b'));
    await projections.read('operations', () => undefined);
    gate.release();
    await flushing;
    assert.equal(await shown(engine, 'one'), { a: 'a' });
    assert.is(await waitingFiles(projections), 1, 'what came meanwhile is still to be rendered');
    const again = projections.flush();
    await until(async () => gate.waiting());
    gate.release();
    await again;
    assert.equal(await shown(engine, 'one'), { a: 'a', b: 'b' });
    assert.is(await waitingFiles(projections), 0);
  }));

test('rendering: a directory in the way keeps the mark and is said, other files are rendered, and it recovers', () =>
  withEngine(async (engine) => {
    const inTheWay = join(engine.dataDirectory, 'shown', 'one.json');
    await mkdir(inTheWay, { recursive: true });
    const projections = await engine.open([operationsProjection()], {
      clock: timerClock,
      limits: { renderRetryMs: 5, renderRetryMsMax: 20 },
    });
    engine.source.append(put('one', 'a'));
    engine.source.append(put('two', 'b'));
    const error = await rejection(projections.flush());
    assert.is(error.code, 'store_failed');
    assert.match(error.message, 'EISDIR');
    assert.equal(error.details, { projection: 'operations', file: 'shown/one.json' });
    assert.equal(await shown(engine, 'two'), { b: 'b' });
    const [status] = await projections.status();
    assert.is(status?.waitingFiles, 1);
    assert.is(status?.state, 'live');
    assert.match(status?.error?.message ?? '', 'EISDIR');
    // It is tried again all the time, so that a temporary file may lie there.
    const names = (await readdir(join(engine.dataDirectory, 'shown'))).filter(
      (name) => !name.endsWith('.tmp'),
    );
    assert.equal(names, ['one.json', 'two.json']);
    await rm(inTheWay, { recursive: true });
    await until(async () => (await waitingFiles(projections)) === 0);
    await until(async () => (await projections.status())[0]?.error === undefined);
    assert.equal(await shown(engine, 'one'), { a: 'a' });
  }));

test('rendering: a full disk is said as such and stops nothing else', () =>
  withEngine(async (engine) => {
    let full = true;
    const open = (async (...parameters: Parameters<FileSystem['open']>) => {
      if (full && String(parameters[0]).endsWith('.tmp')) throw errno('ENOSPC');
      return await nodeFileSystem.open(...parameters);
    }) as FileSystem['open'];
    const projections = await engine.open([operationsProjection()], {
      fileSystem: { ...nodeFileSystem, open },
    });
    engine.source.append(put('one', 'a'));
    assert.is((await rejection(projections.flush())).code, 'storage_full');
    const read = await projections.read('operations', (tables) => tables.get('one', 'a'));
    assert.is(read.value, 'a');
    full = false;
    await projections.flush();
    assert.equal(await shown(engine, 'one'), { a: 'a' });
  }));

test('rendering: killed at any step, a file is the old one or the new one, and leftovers are swept', async () => {
  for (const step of ['mkdir', 'open', 'rename', 'directory'] as const) {
    await withEngine(async (engine) => {
      let projections = await engine.open([operationsProjection()]);
      engine.source.append(put('one', 'old'));
      await projections.flush();
      await projections.close();
      const foreign = join(engine.dataDirectory, 'shown', 'other.json.1-1.tmp');
      await writeFile(foreign, 'not ours');
      await writeFile(join(engine.dataDirectory, 'shown', 'one.json.7-1.tmp'), 'left by a killed process');

      projections = await engine.open([operationsProjection()], { fileSystem: dyingAt(step) });
      engine.source.append(put('one', 'new'));
      await rejection(projections.flush());
      await engine.database.crash();
      const names = await readdir(join(engine.dataDirectory, 'shown'));
      const found = JSON.stringify(await shown(engine, 'one'));
      assert.ok(['{"old":"old"}', '{"new":"new","old":"old"}'].includes(found), `${step}: ${found}`);
      if (step === 'rename') assert.ok(names.filter((name) => name.startsWith('one.json.')).length > 0);

      const after = await engine.open([operationsProjection()]);
      assert.is(await waitingFiles(after), 1, step);
      await after.flush();
      assert.equal(await shown(engine, 'one'), { new: 'new', old: 'old' });
      assert.equal(await readdir(join(engine.dataDirectory, 'shown')), ['one.json', 'other.json.1-1.tmp']);
    });
  }
});

/** A file system of which nothing works any more from a step on, not even tidying up. */
function dyingAt(step: 'mkdir' | 'open' | 'rename' | 'directory'): FileSystem {
  let dead = false;
  const at = (here: string) => {
    if (here === step) dead = true;
    if (dead) throw errno('EIO');
  };
  return {
    ...nodeFileSystem,
    mkdir: (async (...parameters: Parameters<FileSystem['mkdir']>) => {
      at('mkdir');
      return await nodeFileSystem.mkdir(...parameters);
    }) as FileSystem['mkdir'],
    open: (async (...parameters: Parameters<FileSystem['open']>) => {
      at(String(parameters[0]).endsWith('.tmp') ? 'open' : 'directory');
      return await nodeFileSystem.open(...parameters);
    }) as FileSystem['open'],
    rename: async (from, to) => {
      at('rename');
      await nodeFileSystem.rename(from, to);
    },
    rm: async (path, options) => {
      at('rm');
      await nodeFileSystem.rm(path, options);
    },
  };
}

test('rendering: nothing is rendered from tables that do not hold yet what the log held at open', () =>
  withEngine(async (engine) => {
    for (let index = 0; index < 500; index += 1) engine.source.append(put('one', `key ${index}`));
    const contents: (string | undefined)[] = [];
    const projections = await engine.open([watching(contents)], {
      clock: timerClock,
      limits: { batchEventsMax: 1, renderDelayMs: 0 },
    });
    assert.is((await projections.status())[0]?.state, 'building');
    await until(async () => contents.length > 0);
    for (const content of contents) assert.is(Object.keys(JSON.parse(content ?? '{}')).length, 500);
    assert.is((await projections.status())[0]?.state, 'live');
  }));

test('rendering: a build that was replaced while its files were written is not rendered any more', () =>
  withEngine(async (engine) => {
    const gate = gatedRenames();
    const contents: (string | undefined)[] = [];
    const projections = await engine.open([watching(contents)], {
      fileSystem: gate.fileSystem,
      limits: { renderFilesMax: 1 },
    });
    engine.source.append(put('one', 'a'));
    engine.source.append(put('two', 'b'));
    const flushing = projections.flush();
    await until(async () => gate.waiting());
    const rebuilding = projections.rebuild();
    await new Promise((resolve) => setTimeout(resolve, 20));
    gate.release();
    await Promise.all([flushing, rebuilding]);
    assert.equal(contents, ['{"a":"a"}'], 'the second file of the old build is left to the new one');
    const again = projections.flush();
    await until(async () => gate.waiting());
    gate.release();
    await until(async () => gate.waiting());
    gate.release();
    await again;
    assert.equal(await shown(engine, 'one'), { a: 'a' });
    assert.equal(await shown(engine, 'two'), { b: 'b' });
  }));

test('rendering: no file is written outside of the data directory', async () => {
  for (const file of ['../outside.json', '/outside.json', 'a/../../outside.json', '', 'a//b', 'a/\0']) {
    await withEngine(async ({ source, dataDirectory, open }) => {
      const projections = await open([{ ...operationsProjection(), fileOf: () => file }]);
      source.append(put('one', 'a'));
      const { message } = await rejection(projections.flush());
      assert.match(message, 'a file lies in the data directory');
      assert.equal(await readdir(dataDirectory), []);
    });
  }
});

test('rendering: a check finds a file that somebody changed, and a rebuild renders it again', () =>
  withEngine(async (engine) => {
    const projections = await engine.open([operationsProjection()]);
    engine.source.append(put('one', 'a'));
    engine.source.append(put('two', 'b'));
    await projections.flush();
    await writeFile(join(engine.dataDirectory, 'shown', 'one.json'), '{}');
    const [report] = await projections.check();
    assert.equal(report, {
      name: 'operations',
      seq: 2,
      rows: 2,
      files: 2,
      equal: false,
      differences: ['a file differs: shown/one.json'],
    });
    await projections.rebuild();
    await projections.flush();
    assert.is((await projections.check())[0]?.equal, true);
  }));

test.run();
