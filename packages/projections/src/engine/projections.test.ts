import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProjectionError } from '../errors.ts';
import { withEngine, withLevelEngine } from '../testing/engine-fixture.ts';
import { operationsProjection, rowsOf } from '../testing/operations-projection.ts';
import { CATALOGUE_PREFIX, META_KEY, rangeOfPrefix } from './physical-keys.ts';
import type { Projection } from './projection.ts';

const count = { do: 'count', table: 'one', key: 'a' };
const put = (key: string, value: unknown = key) => ({ do: 'put', table: 'one', key, value });

async function rejection(promise: Promise<unknown>): Promise<ProjectionError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  assert.instance(error, ProjectionError);
  return error as ProjectionError;
}

for (const [where, withAny] of [
  ['memory', withEngine],
  ['disk', withLevelEngine],
] as const) {
  test(`projections on ${where}: a read sees everything acknowledged before it, at one seq`, () =>
    withAny(async ({ source, open }) => {
      const projections = await open([operationsProjection()]);
      const reads = Array.from({ length: 200 }, async (_, index) => {
        const seq = source.append(put(`key ${index}`));
        if (index % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
        const read = await projections.read('operations', (tables) => rowsOf(tables, 'one'), {
          atLeast: seq,
        });
        assert.ok(read.seq >= seq);
        assert.is(read.value.length, read.seq, 'the rows are those of the seq that is answered');
      });
      await Promise.all(reads);
    }));

  test(`projections on ${where}: a read keeps to its snapshot while the tables move on`, () =>
    withAny(async ({ source, open }) => {
      const projections = await open([operationsProjection()]);
      source.append(put('before'));
      const { value, seq } = await projections.read('operations', async (tables) => {
        source.append(put('after'));
        await projections.read('operations', () => undefined);
        return rowsOf(tables, 'one');
      });
      assert.equal(value, [['before', 'before']]);
      assert.is(seq, 1);
    }));

  test(`projections on ${where}: events of unknown types move the checkpoint and nothing else`, () =>
    withAny(async ({ source, open }) => {
      const projections = await open([operationsProjection()]);
      source.append(put('a'));
      source.append(put('b'), 'payload_part');
      const { value, seq } = await projections.read('operations', (tables) => rowsOf(tables, 'one'));
      assert.equal(value, [['a', 'a']]);
      assert.is(seq, 2);
    }));

  test(`projections on ${where}: a new version is folded anew, and files of the old one that it lacks vanish`, () =>
    withAny(async ({ source, open, notices }) => {
      let projections = await open([operationsProjection(), operationsProjection({ name: 'other' })], {
        isNew: true,
      });
      for (let index = 0; index < 3; index += 1) source.append(count);
      await projections.flush();
      await projections.close();
      source.append(count);
      const changed = { ...operationsProjection({ version: 2 }), evolve: () => undefined };
      projections = await open([changed, operationsProjection({ name: 'other' })]);
      assert.equal(await projections.read('operations', (tables) => rowsOf(tables, 'one')), {
        value: [],
        seq: 4,
      });
      const other = await projections.read('other', (tables) => tables.get('counts', 'a'));
      assert.is(other.value, 4, 'the one that was not behind has every event once');
      assert.equal(notices, ['version_changed']);
      const [status] = await projections.status();
      assert.is(status?.version, 2);
      assert.is(status?.waitingFiles, 1, 'the file of the old version is marked');
      await projections.flush();
      const [report] = await projections.check({ only: ['operations'] });
      assert.equal(report, { name: 'operations', seq: 4, rows: 0, files: 0, equal: true, differences: [] });
    }));

  test(`projections on ${where}: reads and writes go on during a rebuild, which equals what it replaces`, () =>
    withAny(async ({ source, open }) => {
      const projections = await open([operationsProjection()], { limits: { batchEventsMax: 3 } });
      for (let index = 0; index < 100; index += 1) source.append(put(`key ${index % 40}`, index));
      const seen: number[] = [];
      const rebuilding = projections.rebuild({
        onProgress({ seq }) {
          seen.push(seq);
          if (source.head() < 120) source.append(put(`key ${source.head()}`));
        },
      });
      while (source.head() < 120) {
        const read = await projections.read('operations', (tables) => rowsOf(tables, 'one'));
        assert.ok(read.value.length >= 40);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const [report] = await rebuilding;
      assert.is(report?.seq, 120);
      assert.is(report?.rows, 60);
      assert.ok(seen.length > 10);
      const [check] = await projections.check();
      assert.is(check?.equal, true, check?.differences.join('; '));
      source.append(put('later'));
      assert.is((await projections.read('operations', (tables) => rowsOf(tables, 'one'))).value.length, 61);
    }));
}

test('projections: an event that cannot be folded stops them and is not passed over', () =>
  withEngine(async ({ source, open }) => {
    const projections = await open([operationsProjection()], { limits: { batchEventsMax: 2 } });
    source.append(put('a'));
    await projections.read('operations', () => undefined);
    source.append({ do: 'fail' });
    source.append(put('b'));
    const error = await rejection(projections.read('operations', () => undefined));
    assert.is(error.code, 'store_failed');
    assert.equal(error.details, { projection: 'operations', seq: 2, type: 'turn_output' });
    assert.is((await rejection(projections.flush())).code, 'store_failed');
    const [status] = await projections.status();
    assert.is(status?.state, 'failed');
    assert.is(status?.seq, 1);
    assert.is(status?.lag, 2);
    assert.is((await rejection(projections.rebuild())).details?.seq, 2, 'a rebuild fails the same way');
  }));

test('projections: a fold that failed is tried again after a rebuild alone, and the others lose and repeat nothing', () =>
  withEngine(async ({ source, open }) => {
    let faulty = true;
    const mended: Projection = {
      ...operationsProjection({ name: 'mended' }),
      evolve(_, event) {
        if (faulty && event.seq === 3) throw new Error('a fault');
      },
    };
    const projections = await open([operationsProjection(), mended]);
    source.append(count);
    await projections.read('operations', () => undefined);
    source.append(count);
    source.append(count);
    assert.is((await rejection(projections.flush())).details?.projection, 'mended');
    faulty = false;
    assert.is((await rejection(projections.flush())).details?.projection, 'mended');
    const before = await projections.status();
    source.append(count);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const after = await projections.status();
    assert.equal(
      after.map(({ seq }) => seq),
      before.map(({ seq }) => seq),
      'nothing moves while it has failed',
    );
    await projections.rebuild({ only: ['mended'] });
    const { value, seq } = await projections.read('operations', (tables) => tables.get('counts', 'a'));
    assert.is(value, 4);
    assert.is(seq, 4);
    assert.is(projections.failure, undefined);
  }));

test('projections: they follow by themselves, whenever an event is committed', () =>
  withEngine(async ({ source, open }) => {
    const projections = await open([operationsProjection()]);
    for (let turns = 0; turns < 80; turns += 1) {
      source.append(count);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      source.append(count);
      for (let left = 100; left > 0; left -= 1) {
        await new Promise((resolve) => setImmediate(resolve));
        if ((await projections.status())[0]?.lag === 0) break;
      }
      assert.is((await projections.status())[0]?.lag, 0, `an event that came ${turns} turns after another`);
    }
  }));

test('projections: a rebuild mends rows that were changed behind their back, and a check finds them', () =>
  withEngine(async ({ source, database, open }) => {
    const projections = await open([operationsProjection()]);
    for (const key of ['a', 'b', 'c']) source.append(put(key));
    await projections.flush();
    await database.tamper(async (level) => {
      const keys = (await level.keys().all()).filter((key) => /^.one\0/su.test(key));
      assert.is(keys.length, 3);
      await level.del(keys[0] as string);
      await level.put(keys[1] as string, Buffer.from([0xa1, 0x78]));
      await level.put(`${keys[2]}-more`, Buffer.from([0xa1, 0x78]));
    });
    const [damaged] = await projections.check();
    assert.equal(damaged?.differences, [
      'a row is missing: one "a"',
      'a row has another value: one "b"',
      'a row too many: one "c-more"',
    ]);
    assert.is(damaged?.equal, false);
    await projections.rebuild();
    const [mended] = await projections.check();
    assert.equal(mended?.differences, []);
  }));

test('projections: a rebuild that is cut short changes nothing and leaves no rows behind', () =>
  withEngine(async ({ source, database, open }) => {
    const projections = await open([operationsProjection()], { limits: { batchEventsMax: 1 } });
    for (const key of ['a', 'b', 'c']) source.append(put(key));
    await projections.flush();
    const keysNow = async () => {
      let keys: string[] = [];
      await database.tamper(async (level) => {
        keys = await level.keys().all();
      });
      return keys;
    };
    const before = await keysNow();
    const cut = new AbortController();
    const rebuilding = projections.rebuild({
      signal: cut.signal,
      onProgress: () => cut.abort(new Error('cut')),
    });
    const error = await rebuilding.catch((cause: Error) => cause);
    assert.is((error as Error).message, 'cut');
    assert.equal(await keysNow(), before);
  }));

test('projections: builds that a crash left behind are swept at open', () =>
  withEngine(async ({ source, database, open }) => {
    let projections = await open([operationsProjection()]);
    source.append(put('a'));
    await projections.close();
    await database.tamper((level) => level.put('\x09one\0a', Buffer.from([1])));
    projections = await open([operationsProjection()]);
    await database.tamper(async (level) => {
      assert.equal(await level.keys(rangeOfPrefix('\x09')).all(), []);
    });
  }));

test('projections: closing folds what is committed and refuses what comes after', () =>
  withEngine(async ({ source, database, open }) => {
    const projections = await open([operationsProjection()]);
    await projections.read('operations', () => undefined);
    source.append(put('a'));
    await projections.close();
    await database.tamper(async (level) => {
      const keys = await level.keys().all();
      assert.ok(keys.some((key) => key.endsWith('one\0a')));
      assert.ok(keys.includes(META_KEY) && keys.includes(`${CATALOGUE_PREFIX}operations`));
    });
    assert.is((await rejection(projections.read('operations', () => undefined))).code, 'store_closed');
    assert.is((await rejection(projections.rebuild())).code, 'store_closed');
  }));

test('projections: a read of what is not there is refused', () =>
  withEngine(async ({ open }) => {
    const projections = await open([operationsProjection()]);
    assert.is((await rejection(projections.read('nothing', () => undefined))).code, 'invalid_argument');
    const ahead = projections.read('operations', () => undefined, { atLeast: 5 });
    assert.is((await rejection(ahead)).code, 'invalid_argument');
  }));

test.run();
