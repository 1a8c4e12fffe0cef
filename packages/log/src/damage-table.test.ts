/*
 * Whatever is damaged in a database of the log is found and named, or does no harm and everything is there as
 * it was. Never is anything missing or different without a word.
 */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TurnlogError } from '@turnlog/events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Log } from './log.ts';
import { openLog } from './open-log.ts';
import { damagesOf } from './testing/conformance-damages.ts';
import { collect } from './testing/directory.ts';

const STREAMS = ['a', 'b', 'c'];
const EVENTS = 240;
const clock = () => 1;

let home = '';
let original = '';
let expected = '';

const test = suite('damage of the log');

test.before(async () => {
  home = await mkdtemp(join(tmpdir(), 'turnlog-damage-'));
  original = join(home, 'original');
  for (const half of [0, 1]) {
    // Opening moves what was in the .log into a table: there is one of each then.
    const log = await openLog({ directory: original, clock });
    for (let place = 0; place < EVENTS / 2; place++) {
      const count = (half * EVENTS) / 2 + place;
      const text = randomBytes(300).toString('base64');
      await log.append(STREAMS[count % 3] ?? '', [{ id: `id-${count}`, type: 'said', data: { text } }]);
    }
    if (half === 1) expected = JSON.stringify(await contentOf(log));
    await log.close();
  }
});

test.after(() => rm(home, { recursive: true, force: true }));

/** All that can be read of a log, in every way. */
async function contentOf(log: Log): Promise<unknown> {
  const streams: unknown[] = [];
  for (const stream of STREAMS) {
    streams.push([await log.revisionOf(stream), await collect(log.readStream(stream))]);
  }
  const seqs: unknown[] = [];
  for (let count = 0; count < EVENTS; count++) seqs.push(await log.seqOf(`id-${count}`));
  return { streams, seqs, head: log.head(), events: await collect(log.read()) };
}

type Outcome = 'refused' | 'named' | 'harmless' | 'made anew';

async function outcomeOf(directory: string): Promise<Outcome> {
  let log: Log;
  try {
    log = await openLog({ directory, clock });
  } catch (error) {
    if (isDamageNamed(error)) return 'refused';
    throw error;
  }
  try {
    const { problems } = await log.verify();
    if (problems.length > 0) {
      assert.ok(problems.every(({ seq, through }) => seq >= 1 && through >= seq));
      return 'named';
    }
    const content = JSON.stringify(await contentOf(log));
    assert.ok(content === expected, 'nothing was named, so everything is as it was');
    return log.opening.indexRebuilt ? 'made anew' : 'harmless';
  } catch (error) {
    if (isDamageNamed(error)) return 'named';
    throw error;
  } finally {
    await log.close();
  }
}

function isDamageNamed(error: unknown): boolean {
  return (
    error instanceof TurnlogError &&
    (error.code === 'store_damaged' || (error.code === 'store_failed' && error.details?.database === 'index'))
  );
}

for (const database of ['log', 'index'] as const) {
  const outcomes = new Map<Outcome, string[]>();
  for (const [place, { title, apply }] of damagesOf().entries()) {
    test(`${database}: ${title}`, async () => {
      const copy = join(home, `${database}-${place}`);
      try {
        await cp(original, copy, { recursive: true });
        await apply(join(copy, database));
        const outcome = await outcomeOf(copy);
        outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), title]);
        // LevelDB may have replaced what was damaged. What was found is found again, or was made good.
        const again = await outcomeOf(copy);
        if (outcome === 'refused') assert.is(again, 'refused');
        if (database === 'index') {
          assert.is.not(outcome, 'refused', 'the index can be made anew');
          assert.ok(again === 'harmless' || again === 'made anew', `then ${again}`);
        }
      } finally {
        await rm(copy, { recursive: true, force: true });
      }
    });
  }

  test(`${database}: damage of every kind was tried and found`, () => {
    const found = database === 'log' ? ['refused'] : ['made anew'];
    for (const outcome of found) assert.ok(outcomes.has(outcome as Outcome), outcome);
    const harmless = outcomes.get('harmless') ?? [];
    assert.equal(
      harmless.filter((title) => /(MANIFEST-|CURRENT|\.ldb) gone/.test(title)),
      [],
    );
  });
}

test.run();
