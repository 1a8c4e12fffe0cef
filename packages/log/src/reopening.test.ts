import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeFileSystem } from './file-system.ts';
import type { Log } from './log.ts';
import { openLog } from './open-log.ts';
import { classicStore, type Store } from './store.ts';
import { collect, failureOf, inDirectory } from './testing/directory.ts';
import { diskFull, type FailingStore, failingStore } from './testing/failing-store.ts';
import { ManualTimer } from './testing/manual-timer.ts';
import { memoryStore } from './testing/memory-store.ts';

const said = (text: string) => ({ id: text, type: 'said', data: { text } });

interface Bench {
  log: Log;
  store: FailingStore;
  disk: { isFull: boolean };
  /** Lets the log look whether it can go on. */
  retry(): Promise<void>;
}

/** Runs a test with a log on a disk that can be full. */
async function withBench(makeStore: (directory: string) => Store, run: (bench: Bench) => Promise<void>) {
  await inDirectory(async (directory) => {
    const store = failingStore(makeStore(directory));
    const timer = new ManualTimer();
    const disk = { isFull: false };
    const statfs = (async (path: string) => {
      const found = await nodeFileSystem.statfs?.(path);
      return disk.isFull ? { ...found, bavail: 1 } : found;
    }) as typeof nodeFileSystem.statfs;
    const fileSystem = { ...nodeFileSystem, ...(statfs && { statfs }) };
    const log = await openLog({ directory, clock: () => 1, store, fileSystem, after: timer.after });
    const retry = async () => {
      timer.fire();
      // Until it has given up for now, or is ready.
      while (timer.waiting === 0 && log.state().state !== 'ready') await pause();
    };
    try {
      await run({ log, store, disk, retry });
    } finally {
      await log.close();
    }
  });
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 2));

async function failWith({ log, store }: Bench, text: string, more = {}): Promise<void> {
  store.fail('log', diskFull, more);
  assert.is((await failureOf(log.append('a', [said(text)]))).code, 'storage_full');
}

async function idsOf(log: Log): Promise<string[]> {
  return (await collect(log.read())).map(({ id }) => id);
}

for (const [name, makeStore] of [
  ['memory', memoryStore],
  ['LevelDB', (directory: string) => classicStore(directory)],
] as const) {
  test(`${name}: appends go on by themselves once there is room, and nothing acknowledged is lost`, () =>
    withBench(makeStore, async (bench) => {
      const { log, store, disk, retry } = bench;
      await log.append('a', [said('kept')]);
      disk.isFull = true;
      await failWith(bench, 'failed');
      store.heal();
      for (let round = 0; round < 3; round++) {
        await retry();
        assert.is((await failureOf(log.append('a', [said(`refused ${round}`)]))).code, 'storage_full');
        assert.is(log.state().state, 'read_only');
        assert.equal(await idsOf(log), ['kept']);
        assert.is(await log.revisionOf('a'), 1);
      }
      disk.isFull = false;
      await retry();
      assert.equal(log.state(), { state: 'ready' });
      const result = await log.append('a', [said('failed')], { expectedRevision: 1 });
      assert.equal([result.seq, result.duplicate], [2, false]);
      assert.equal(await idsOf(log), ['kept', 'failed']);
      assert.is(store.lostWrites, 0, 'nothing was written through the handle that had failed');
    }));

  test(`${name}: a failed append that is in the log is found, told to listeners, and a retry by id says so`, () =>
    withBench(makeStore, async (bench) => {
      const { log, store, retry } = bench;
      await log.append('a', [said('kept')]);
      const heard: string[] = [];
      let reopenings = 0;
      log.onCommit((events) => heard.push(...events.map(({ id, seq }) => `${id} ${seq} of ${log.head()}`)));
      log.onReopened(() => {
        reopenings += 1;
      });
      await failWith(bench, 'failed', { isWritten: true });
      assert.is(log.head(), 1);
      store.heal();
      await retry();
      assert.is(log.head(), 2);
      assert.equal([heard, reopenings], [['failed 2 of 2'], 1]);
      assert.is(await log.revisionOf('a'), 2);
      const retried = await log.append('a', [said('failed')]);
      assert.equal([retried.seq, retried.duplicate], [2, true]);
      assert.is((await log.append('a', [said('next')])).seq, 3);
    }));

  test(`${name}: reads that are under way go on over a reopening, without a gap`, () =>
    withBench(makeStore, async (bench) => {
      const { log, store, retry } = bench;
      const texts = Array.from({ length: 2_500 }, (_, place) => `${place}`);
      await log.append('a', texts.map(said));
      const readers = [log.read(), log.read({ reverse: true }), log.readStream('a'), log.follow({ from: 1 })];
      const seen = await Promise.all(readers.map(async (reader) => [(await reader.next()).value?.seq]));
      await failWith(bench, 'failed');
      store.heal();
      const verified = log.verify();
      await retry();
      assert.is((await verified).events, 2_500);
      for (const [place, reader] of readers.entries()) {
        for (let left = texts.length - 1; left > 0; left--) {
          seen[place]?.push((await reader.next()).value?.seq);
        }
      }
      const upward = texts.map((_, place) => place + 1);
      assert.equal(seen, [upward, [...upward].reverse(), upward, upward]);
      const next = readers[3]?.next();
      await log.append('a', [said('after')]);
      assert.is((await next)?.value?.id, 'after');
    }));

  test(`${name}: an index that cannot be written heals with the log`, () =>
    withBench(makeStore, async ({ log, store, retry }) => {
      await log.append('a', [said('1')]);
      await pause();
      store.fail('index', diskFull);
      await log.append('a', [said('2')]);
      while (log.state().state === 'ready') await pause();
      assert.is((await failureOf(log.append('a', [said('3')]))).code, 'storage_full');
      assert.is(await log.revisionOf('a'), 2);
      store.heal();
      await retry();
      assert.is((await log.append('a', [said('2')])).duplicate, true);
      assert.is((await log.append('a', [said('3')])).revision, 3);
      assert.is((await collect(log.readStream('a'))).length, 3);
    }));

  test(`${name}: while it cannot be opened reads are refused with the reason, and later it is`, () =>
    withBench(makeStore, async (bench) => {
      const { log, store, retry } = bench;
      await log.append('a', [said('kept')]);
      await failWith(bench, 'failed');
      store.heal();
      for (const database of ['log', 'index'] as const) {
        store.failOpening(database, diskFull);
        await retry();
        assert.is(log.state().state, 'unavailable');
        assert.is((await failureOf(idsOf(log))).code, 'storage_full');
        assert.is((await failureOf(log.revisionOf('a'))).code, 'storage_full');
        assert.is((await failureOf(log.append('a', [said('x')]))).code, 'storage_full');
        assert.is(log.head(), 1);
        store.heal();
      }
      await retry();
      assert.equal(await idsOf(log), ['kept']);
      assert.is((await log.append('a', [said('failed')])).seq, 2);
    }));

  test(`${name}: a log that ends before what was acknowledged is damaged and stays closed`, () =>
    inDirectory(async (directory) => {
      const inner = makeStore(directory);
      const store = failingStore({
        ...inner,
        async open(database, mode) {
          const opened = await inner.open(database, mode);
          if (isLost && database === 'log') await opened.del(Buffer.from([0, 0, 0, 0, 0, 0, 0, 2]));
          return opened;
        },
      });
      let isLost = false;
      const timer = new ManualTimer();
      const log = await openLog({ directory, clock: () => 1, store, after: timer.after });
      for (const text of ['1', '2']) await log.append('a', [said(text)]);
      store.fail('log', diskFull);
      await failureOf(log.append('a', [said('3')]));
      store.heal();
      isLost = true;
      timer.fire();
      while (log.state().state !== 'unavailable') await pause();
      const error = await failureOf(log.append('a', [said('3')]));
      assert.equal([error.code, error.details?.seq], ['store_damaged', 2]);
      assert.is((await failureOf(idsOf(log))).code, 'store_damaged');
      await pause();
      assert.is(timer.waiting, 0, 'no further try would help');
      await log.close();
    }));
}

test('closing: a log that waits for room closes, and is whole when it is opened again', () =>
  inDirectory(async (directory) => {
    const store = failingStore(classicStore(directory));
    const timer = new ManualTimer();
    const log = await openLog({ directory, clock: () => 1, store, after: timer.after });
    await log.append('a', [said('kept')]);
    store.fail('log', diskFull);
    await failureOf(log.append('a', [said('failed')]));
    await log.close();
    assert.is(timer.waiting, 0);
    assert.is((await failureOf(idsOf(log))).code, 'store_closed');
    const again = await openLog({ directory, clock: () => 1 });
    assert.equal(await idsOf(again), ['kept']);
    await again.close();
  }));

test.run();
