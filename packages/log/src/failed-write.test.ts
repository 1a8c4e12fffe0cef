import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLog } from './open-log.ts';
import { classicStore } from './store.ts';
import { collect, failureOf, inDirectory } from './testing/directory.ts';
import { diskFull, failingStore } from './testing/failing-store.ts';

const clock = () => 1;
const said = (text: string) => ({ id: text, type: 'said', data: { text } });

test('failed write: its group and all later appends get storage_full, reads go on', () =>
  inDirectory(async (directory) => {
    const store = failingStore(classicStore(directory));
    const log = await openLog({ directory, clock, store });
    await log.append('a', [said('kept')]);
    const heard: number[] = [];
    log.onCommit((events) => heard.push(events.length));

    store.fail('log', diskFull);
    const appends = Array.from({ length: 10 }, (_, place) => log.append('a', [said(`lost ${place}`)]));
    for (const append of appends) assert.is((await failureOf(append)).code, 'storage_full');

    store.heal();
    assert.is((await failureOf(log.append('a', [said('later')]))).code, 'storage_full');
    const state = log.state();
    assert.ok(state.state === 'read_only' && state.reason.code === 'storage_full');
    assert.is(log.head(), 1);
    assert.is(await log.revisionOf('a'), 1);
    assert.equal(heard, []);
    assert.is((await collect(log.read())).length, 1);
    assert.is((await collect(log.readStream('a'))).length, 1);
    await log.close();
  }));

test('failed write: what was queued behind it is refused, and a retry by id decides after reopening', () =>
  inDirectory(async (directory) => {
    const store = failingStore(classicStore(directory));
    const log = await openLog({ directory, clock, store });
    const release = store.hold('log');
    const first = log.append('a', [said('first')]);
    await new Promise((resolve) => setTimeout(resolve, 10));
    const second = log.append('a', [said('second')]);
    store.fail('log', () => new Error('IO error: the device is gone'));
    release();
    assert.is((await failureOf(first)).code, 'store_failed');
    assert.is((await failureOf(second)).code, 'store_failed');
    await log.close();

    const reopened = await openLog({ directory, clock });
    const retried = await reopened.append('a', [said('first')]);
    assert.equal([retried.seq, retried.duplicate], [1, false]);
    await reopened.close();
  }));

test('failed write: a failing index stops appends, and what is committed is still found', () =>
  inDirectory(async (directory) => {
    const store = failingStore(classicStore(directory));
    const log = await openLog({ directory, clock, store });
    await log.append('a', [said('1')]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    store.fail('index', diskFull);
    await log.append('a', [said('2')]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.is(log.state().state, 'read_only');
    assert.is((await failureOf(log.append('a', [said('3')]))).code, 'storage_full');
    assert.is((await collect(log.readStream('a'))).length, 2);
    assert.is(await log.revisionOf('a'), 2);
    await log.close();

    const reopened = await openLog({ directory, clock });
    assert.is((await collect(reopened.readStream('a'))).length, 2);
    assert.ok((await reopened.append('a', [said('2')])).duplicate);
    await reopened.close();
  }));

test('index: what it has not written yet is seen by every lookup', () =>
  inDirectory(async (directory) => {
    const store = failingStore(classicStore(directory));
    // A cache of one stream or two: lookups must find the others in the backlog.
    const log = await openLog({ directory, clock, store, limits: { cachedStreamsMax: 2 } });
    const release = store.hold('index');
    for (const text of ['1', '2', '3', '4']) await log.append(`s${Number(text) % 2}`, [said(text)]);
    assert.ok((await log.append('s1', [said('1')])).duplicate);
    assert.is((await failureOf(log.append('s0', [said('1')]))).code, 'event_conflict');
    assert.is((await log.append('s1', [said('5')], { expectedRevision: 2 })).revision, 3);
    assert.equal(
      (await collect(log.readStream('s1', { from: 2 }))).map(({ seq }) => seq),
      [3, 5],
    );
    release();
    await log.close();
  }));

test('queue: what is over its bytes or its number is refused and says so, what is in it comes in order', () =>
  inDirectory(async (directory) => {
    for (const limits of [{ queueAppendsMax: 3 }, { queueBytesMax: 60 }]) {
      const data = join(directory, Object.keys(limits).join());
      const log = await openLog({ directory: data, clock, limits: { ...limits, groupEventsMax: 2 } });
      const alone = await log.append('a', [said('x'.repeat(500))]);
      assert.is(alone.seq, 1, 'one alone is never too much');

      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, place) => log.append('a', [said(`${place} ${'x'.repeat(10)}`)])),
      );
      const accepted = outcomes.filter(({ status }) => status === 'fulfilled').length;
      assert.is(accepted, 3);
      for (const outcome of outcomes.slice(accepted)) {
        assert.ok(outcome.status === 'rejected' && outcome.reason.code === 'overloaded');
      }
      assert.is(log.state().state, 'ready');
      await log.append('a', [said('later')]);
      const texts = (await collect(log.read({ from: 2 }))).map(({ id }) => id.slice(0, 5).trim());
      assert.equal(texts, ['0 xxx', '1 xxx', '2 xxx', 'later']);
      await log.close();
    }
  }));

test('queue: awaited appends of any number go through, one after the other', () =>
  inDirectory(async (directory) => {
    const log = await openLog({ directory, clock, limits: { queueAppendsMax: 2, groupEventsMax: 1 } });
    const write = async (writer: number) => {
      for (let count = 0; count < 20; count++) await log.append(`s${writer}`, [said(`${writer} ${count}`)]);
    };
    await Promise.all([write(1), write(2)]);
    assert.is(log.head(), 40);
    const refused = failureOf(log.append('', [said('no stream')]));
    assert.is((await refused).code, 'invalid_argument');
    await log.close();
  }));

test('listener: its fault is thrown outside and harms no append', () =>
  inDirectory(async (directory) => {
    const log = await openLog({ directory, clock });
    log.onCommit(() => {
      throw new Error('a faulty listener');
    });
    const thrown = new Promise<Error>((resolve) => process.once('uncaughtException', resolve));
    assert.is((await log.append('a', [said('1')])).seq, 1);
    assert.is((await thrown).message, 'a faulty listener');
    await log.close();
  }));

test.run();
