/*
 * Whatever is damaged in the database of the projections is found and everything made anew, or it is named by
 * a check, or it does no harm. Never is anything read that differs from what the log says without a word.
 */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { damagesOf } from '@turnlog/log/conformance';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { timerClock } from '../testing/engine-fixture.ts';
import { MemorySource } from '../testing/memory-source.ts';
import { operationsProjection, rowsOf } from '../testing/operations-projection.ts';
import { levelDatabase } from './level-database.ts';
import { openProjections } from './open-projections.ts';
import type { Projections } from './projections.ts';

const TABLES = ['one', 'two'];
const EVENTS = 240;

let home = '';
let original = '';
let expected = '';
const source = new MemorySource();

const test = suite('damage of the projections');

async function open(directory: string, notices: string[]): Promise<Projections> {
  return await openProjections({
    source,
    projections: [operationsProjection()],
    database: levelDatabase(join(directory, 'database')),
    dataDirectory: directory,
    clock: timerClock,
    bootId: 'boot-1',
    isNew: source.head() === 0,
    onNotice: ({ reason }) => notices.push(reason),
    limits: { reopenDelayMs: 1, reopenDelayMsMax: 10, renderDelayMs: 60_000 },
  });
}

async function contentOf(projections: Projections): Promise<string> {
  const { value } = await projections.read('operations', async (tables) => {
    const found: unknown[] = [];
    for (const table of TABLES) {
      const rows = await rowsOf(tables, table);
      found.push(rows);
      for (const [key] of rows) found.push(await tables.get(table, key));
    }
    for (let count = 0; count < EVENTS; count += 1) {
      found.push((await tables.get(TABLES[count % 2] ?? '', `key ${count}`)) === undefined);
    }
    return JSON.stringify(found);
  });
  return value;
}

test.before(async () => {
  home = await mkdtemp(join(tmpdir(), 'turnlog-projections-damage-'));
  original = join(home, 'original');
  for (const half of [0, 1]) {
    // Closing moves what was in the .log into a table, so the second half is left as a killed process does.
    const projections = await open(half === 0 ? original : `${original}-open`, []);
    for (let place = 0; place < EVENTS / 2; place += 1) {
      const count = (half * EVENTS) / 2 + place;
      const value = randomBytes(200).toString('base64');
      source.append({ do: 'put', table: TABLES[count % 2], key: `key ${count}`, value });
      await projections.read('operations', () => undefined);
    }
    await projections.flush();
    if (half === 0) {
      await projections.close();
      await cp(original, `${original}-open`, { recursive: true });
    } else {
      expected = await contentOf(projections);
      await rm(original, { recursive: true });
      await cp(`${original}-open`, original, { recursive: true });
      await projections.close();
    }
  }
});

test.after(() => rm(home, { recursive: true, force: true }));

test('undamaged: as a killed process leaves it, it is gone on with', async () => {
  const notices: string[] = [];
  const copy = join(home, 'whole');
  await cp(original, copy, { recursive: true });
  const projections = await open(copy, notices);
  try {
    assert.ok((await contentOf(projections)) === expected);
    assert.equal(notices, []);
  } finally {
    await projections.close();
  }
});

const outcomes = new Map<string, string[]>();

for (const [place, { title, apply }] of damagesOf().entries()) {
  test(title, async () => {
    const copy = join(home, `damage-${place}`);
    await cp(original, copy, { recursive: true });
    await apply(join(copy, 'database'));
    const notices: string[] = [];
    const projections = await open(copy, notices);
    try {
      const isSame = (await contentOf(projections)) === expected;
      const [report] = await projections.check();
      const outcome = !report?.equal ? 'named' : notices.length > 0 ? 'made anew' : 'harmless';
      outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), title]);
      assert.ok(isSame || outcome === 'named', 'nothing was said, so everything is as it was');
      if (outcome === 'named') {
        await projections.rebuild();
        assert.ok((await contentOf(projections)) === expected, 'a rebuild mends what a check names');
      }
      assert.is((await projections.status())[0]?.state, 'live');
    } finally {
      await projections.close();
      await rm(copy, { recursive: true, force: true });
    }
  });
}

test('damage of every kind was tried and found', () => {
  assert.ok((outcomes.get('made anew')?.length ?? 0) >= 10);
  assert.is(
    outcomes.get('harmless')?.some((title) => /(MANIFEST-|CURRENT|\.ldb) gone/.test(title)) ?? false,
    false,
  );
});

test.run();
