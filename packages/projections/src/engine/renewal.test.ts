import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withEngine, withLevelEngine } from '../testing/engine-fixture.ts';
import { MemorySource } from '../testing/memory-source.ts';
import { operationsProjection, rowsOf } from '../testing/operations-projection.ts';
import type { Projection } from './projection.ts';
import type { Projections } from './projections.ts';

const put = (key: string) => ({ do: 'put', table: 'one', key, value: key });

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let left = 400; left > 0; left -= 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('what was waited for did not come about');
}

/** The second version writes every row twice; it can go on with rows of the first. */
function corrected(readableVersions: number[]): Projection {
  const first = operationsProjection();
  return {
    ...first,
    version: 2,
    readableVersions,
    async evolve(tables, event) {
      await first.evolve(tables, event);
      const { key } = event.data as unknown as { key: string };
      tables.put('one', `${key} again`, key);
    },
  };
}

async function keysIn(projections: Projections): Promise<string[]> {
  const { value } = await projections.read('operations', (tables) => rowsOf(tables, 'one'));
  return value.map(([key]) => key);
}

const stateOf = async (projections: Projections) => (await projections.status())[0];

/** A log whose reader waits before it gives the events from the first on. */
class HeldSource extends MemorySource {
  release: () => void = () => undefined;
  readonly #held = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  override async *readPages(range: { from: number; to: number }) {
    if (range.from === 1) await this.#held;
    yield* super.readPages(range);
  }
}

for (const [where, withAny] of [
  ['memory', withEngine],
  ['disk', withLevelEngine],
] as const) {
  test(`renewal on ${where}: rows of an earlier version are read, kept up to date and rendered until the new ones are made`, () =>
    withAny(async ({ source, dataDirectory, open, notices }) => {
      const before = await open([operationsProjection()], { isNew: true });
      for (const key of ['a', 'b']) source.append(put(key));
      await before.flush();
      await before.close();

      const held = new HeldSource();
      for (const { data } of source.events) held.append(data);
      const projections = await open([corrected([1])], { source: held });
      assert.equal(await keysIn(projections), ['a', 'b']);
      held.append(put('c'));
      assert.equal(
        await keysIn(projections),
        ['a', 'b', 'c', 'c again'],
        'what comes is folded as it should be',
      );
      const status = await stateOf(projections);
      assert.equal([status?.state, status?.version], ['renewing', 1]);
      await projections.flush();
      const shown = async () =>
        Object.keys(JSON.parse(await readFile(join(dataDirectory, 'shown', 'one.json'), 'utf8')));
      assert.equal(await shown(), ['a', 'b', 'c', 'c again']);

      held.release();
      await until(async () => (await stateOf(projections))?.state === 'live');
      assert.is((await stateOf(projections))?.version, 2);
      const all = ['a', 'a again', 'b', 'b again', 'c', 'c again'];
      assert.equal(await keysIn(projections), all);
      await projections.flush();
      assert.equal(await shown(), all);
      assert.equal(notices, ['version_changed']);
      assert.is((await projections.check())[0]?.equal, true);
    }));

  test(`renewal on ${where}: cut short it begins again, and the rows of before are still there`, () =>
    withAny(async ({ source, database, open }) => {
      const before = await open([operationsProjection()], { isNew: true });
      source.append(put('a'));
      await before.flush();
      await before.close();
      const held = new HeldSource();
      for (const { data } of source.events) held.append(data);
      const cut = await open([corrected([1])], { source: held });
      assert.equal(await keysIn(cut), ['a']);
      await database.crash();
      held.release();
      await cut.close();
      const after = await open([corrected([1])]);
      await until(async () => (await stateOf(after))?.state === 'live');
      assert.equal(await keysIn(after), ['a', 'a again']);
    }));
}

test('renewal: rows of a version that cannot be gone on with are not read, and reads wait', () =>
  withEngine(async ({ source, open }) => {
    const before = await open([operationsProjection()], { isNew: true });
    source.append(put('a'));
    await before.close();
    const held = new HeldSource();
    for (const { data } of source.events) held.append(data);
    const projections = await open([corrected([])], { source: held });
    let isAnswered = false;
    const reading = keysIn(projections).then((keys) => {
      isAnswered = true;
      return keys;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.not(isAnswered);
    assert.is((await stateOf(projections))?.state, 'building');
    held.release();
    assert.equal(await reading, ['a', 'a again']);
  }));

test('renewal: an event that the new version cannot fold leaves the rows of before, and says so', () =>
  withEngine(async ({ source, open }) => {
    const before = await open([operationsProjection()], { isNew: true });
    source.append(put('a'));
    await before.close();
    const projections = await open([
      {
        ...corrected([1]),
        evolve: () => {
          throw new Error('a fault');
        },
      },
    ]);
    await until(async () => (await stateOf(projections))?.error !== undefined);
    const status = await stateOf(projections);
    assert.equal([status?.state, status?.version], ['renewing', 1]);
    assert.match(status?.error?.message ?? '', 'a fault');
    assert.equal(await keysIn(projections), ['a']);
  }));

test.run();
