import { readFileSync } from 'node:fs';
import type { UsageSnapshot } from '@turnlog/events';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SESSION, SessionBench } from './session-bench.ts';

const FILE = 'agent-sessions.json';
const FIXTURE = new URL(
  '../../../../test/fixtures/crewcode-userdata/userdata/agent-sessions.json',
  import.meta.url,
);

test('file: its bytes are those that CrewCode writes', async () => {
  const written = readFileSync(FIXTURE, 'utf8');
  const { sessions, usage } = JSON.parse(written) as {
    sessions: Record<string, string>;
    usage: Record<string, UsageSnapshot>;
  };
  const bench = new SessionBench();
  for (const key of new Set([...Object.keys(sessions), ...Object.keys(usage)])) {
    await bench.import(key, sessions[key], usage[key]);
  }
  assert.equal(await bench.files(), { [FILE]: written });
});

test('file: it is written only when something in it changes', async () => {
  const bench = new SessionBench();
  await bench.request();
  await bench.start('t1');
  await bench.compact();
  assert.equal(await bench.files(), {});
  await bench.bind('id');
  assert.equal(Object.keys(await bench.files()), [FILE]);
  await bench.bind('id');
  await bench.end('t1');
  assert.equal(await bench.files(), {});
});

test('file: keys come in the order in which they first had something to show, and keep their place', async () => {
  const bench = new SessionBench();
  const keysOf = async () => Object.keys(JSON.parse((await bench.files())[FILE] ?? '').sessions);
  await bench.start('t1', { sessionKey: 'silent' });
  await bench.import('z', 'id');
  await bench.import('a', 'id');
  await bench.reset('z');
  assert.equal(await keysOf(), ['a']);
  await bench.bind('id', undefined, { sessionKey: 'silent' });
  await bench.bind('id', undefined, { sessionKey: 'z' });
  assert.equal(await keysOf(), ['z', 'a', 'silent']);
});

test('file: when nothing is left both maps are empty', async () => {
  const bench = new SessionBench();
  await bench.bind('id');
  await bench.reset(SESSION);
  assert.equal(await bench.files(), { [FILE]: '{\n  "sessions": {},\n  "usage": {}\n}' });
});

test('file: hostile keys and values come out as any other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.oneof(
          fc.constantFrom('__proto__', 'constructor', 'a\nb', '\u2028', '😀'),
          fc.string({ minLength: 1, unit: 'binary' }).filter((key) => !/^\d+$/.test(key)),
        ),
        { minLength: 1, maxLength: 6 },
      ),
      fc.string({ unit: 'binary' }),
      async (keys, value) => {
        const bench = new SessionBench();
        for (const key of keys) await bench.import(key, value, { contextTokens: 1, model: value });
        const text = (await bench.files())[FILE] ?? '';
        const parsed = JSON.parse(text);
        assert.equal(Object.keys(parsed.sessions), keys);
        assert.equal(Object.keys(parsed.usage), keys);
        assert.is(text, JSON.stringify(parsed, null, 2));
        for (const key of keys)
          assert.is(Object.getOwnPropertyDescriptor(parsed.sessions, key)?.value, value);
      },
    ),
    { numRuns: 50 },
  );
});

test('session: the cost of a report depends neither on how many sessions nor on how many turns there are', async () => {
  const bench = new SessionBench();
  const costs = new Set<number>();
  for (let number = 0; number < 200; number += 1) {
    await bench.import(`${number}:pi`, 'id');
    const before = bench.tables.writes;
    await bench.start(`t${number}`);
    await bench.usage({ contextTokens: 1_000 + number }, `t${number}`);
    await bench.end(`t${number}`, { contextTokens: 1_000 + number });
    if (number > 0) costs.add(bench.tables.writes - before);
  }
  assert.equal([...costs], [5]);
});

test('session: a rebuild gives the same tables', async () => {
  const bench = new SessionBench();
  await bench.import('a', 'id', { contextTokens: 5 });
  await bench.start('t1');
  await bench.usage({ contextTokens: 170_000, contextWindow: 200_000, model: '__proto__' }, 't1');
  await bench.clear();
  await bench.end('t1');
  await bench.start('t2');
  await bench.compact();
  assert.equal((await bench.rebuilt()).dump(), bench.tables.dump());
});

test.run();
