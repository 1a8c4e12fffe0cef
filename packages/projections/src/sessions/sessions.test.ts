import { snapshotOf, streamOf } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { getMeter } from './reads.ts';
import { SESSION, SessionBench } from './session-bench.ts';

const FULL = { contextTokens: 170_000, contextWindow: 200_000 };

test('session: nothing is known of one that was never heard of', async () => {
  const bench = new SessionBench();
  assert.equal(await bench.get(), {});
  assert.equal(await getMeter(bench.tables, SESSION), { windows: [], turns: [] });
});

test('session: it is bound the moment a provider reports its id, each provider under its own key', async () => {
  const bench = new SessionBench();
  const claude = { provider: 'claude', sessionKey: 'one:claude', bridgeId: 'c' };
  await bench.bind('codex-1');
  await bench.bind('claude-1', undefined, claude);
  await bench.bind('codex-2', 't1');
  assert.equal(await bench.get(), { sessionId: 'codex-2' });
  assert.equal(await bench.get('one:claude'), { sessionId: 'claude-1' });
});

test('session: usage goes through the meter, from updates and from ends of turns', async () => {
  const bench = new SessionBench();
  await bench.start('t1');
  await bench.usage({ contextTokens: 42_000, contextWindow: 200_000, model: 'm', outputTokens: 100 }, 't1');
  await bench.end('t1', { contextTokens: 900, outputTokens: 150 });
  const usage = { contextTokens: 42_050, contextWindow: 200_000, model: 'm' };
  assert.equal(await bench.get(), { usage });
  assert.equal(snapshotOf(await getMeter(bench.tables, SESSION)), usage);
});

test('session: a turn of the same name in another bridge counts its output anew', async () => {
  const bench = new SessionBench();
  await bench.usage({ contextTokens: 50_000 });
  await bench.start('t1');
  await bench.end('t1', { contextTokens: 5, outputTokens: 300 });
  await bench.start('t1', { bridgeId: 'other' });
  await bench.end('t1', { contextTokens: 5, outputTokens: 200 }, { bridgeId: 'other' });
  assert.is((await bench.get()).usage?.contextTokens, 50_500);
});

test('session: events without a session key are of none', async () => {
  const bench = new SessionBench();
  await bench.take(streamOf.bridge('b'), 'usage_updated', { bridgeId: 'b', provider: 'codex', usage: FULL });
  assert.equal(bench.tables.dump(), {});
});

test('compaction: a native boundary removes the snapshot and keeps the resume id', async () => {
  const bench = new SessionBench();
  await bench.bind('id');
  await bench.usage(FULL);
  await bench.compact({ strategy: 'native' });
  assert.equal(await bench.get(), { sessionId: 'id' });
  await bench.usage({ contextTokens: 12_000, outputTokens: 300 });
  assert.equal(await bench.get(), { sessionId: 'id', usage: { ...FULL, contextTokens: 12_000 } });
});

test('compaction: a micro one leaves the figure', async () => {
  const bench = new SessionBench();
  await bench.usage(FULL);
  await bench.compact({ beforeTokens: 170_000, afterTokens: 167_000 });
  assert.equal(await bench.get(), { usage: FULL });
});

test('compaction: one that the meter saw by itself is not applied again by its own event', async () => {
  const bench = new SessionBench();
  await bench.start('t1');
  await bench.usage(FULL, 't1');
  await bench.usage({ contextTokens: 30_000 }, 't1');
  const before = await bench.get();
  assert.is(before.usage?.contextTokens, 30_000);
  await bench.take(streamOf.conversation('thread:one'), 'compaction_detected', {
    bridgeId: 'b',
    provider: 'codex',
    sessionKey: SESSION,
    turnId: 't1',
    automatic: true,
    source: 'inferred',
  });
  assert.equal(await bench.get(), before);
  await bench.usage({ contextTokens: 15_000, outputTokens: 10 }, 't1');
  assert.is((await bench.get()).usage?.contextTokens, 30_010);
});

test('compaction: summary-reset takes the resume id and the snapshot, and what is late of before', async () => {
  const bench = new SessionBench();
  await bench.start('t1');
  await bench.bind('id', 't1');
  await bench.usage(FULL, 't1');
  await bench.end('t1');
  await bench.compact({ strategy: 'summary-reset', summary: 'S', turnId: 't1' });
  assert.equal(await bench.get(), {});
  await bench.usage(FULL, 't1');
  await bench.bind('id', 't1');
  assert.equal(await bench.get(), {});
  await bench.bind('new');
  await bench.start('t2');
  await bench.end('t2', { contextTokens: 3_000 });
  assert.equal(await bench.get(), { sessionId: 'new', usage: { contextTokens: 3_000 } });
});

test('reset: it takes both, and what a turn begun before it reports does not bring them back', async () => {
  const bench = new SessionBench();
  await bench.start('t1');
  await bench.bind('id', 't1');
  await bench.usage(FULL, 't1');
  await bench.reset();
  assert.equal(await bench.get(), {});
  await bench.end('t1', FULL);
  assert.equal(await bench.get(), {});
  await bench.bind('fresh');
  await bench.start('t2');
  await bench.usage({ contextTokens: 2_000 }, 't2');
  assert.equal(await bench.get(), { sessionId: 'fresh', usage: { contextTokens: 2_000 } });
});

test('handoff: it takes the resume id and the figure of the destination, and of no other session', async () => {
  const bench = new SessionBench();
  const claude = { provider: 'claude', sessionKey: 'one:claude', bridgeId: 'c' };
  await bench.bind('codex-1');
  await bench.usage(FULL);
  await bench.bind('claude-1', undefined, claude);
  await bench.take(streamOf.conversation('thread:one'), 'handoff_completed', {
    from: 'thread:other',
    to: 'thread:one',
    bridgeId: 'b',
    provider: 'codex',
    sessionKey: SESSION,
    packet: 'packet',
  });
  assert.equal(await bench.get(), {});
  assert.equal(await bench.get('one:claude'), { sessionId: 'claude-1' });
});

test('import: it brings what is missing, as it came', async () => {
  const bench = new SessionBench();
  const odd = { contextTokens: 147_554.5, contextWindow: 128_000, model: 'm' };
  await bench.import('a:pi', 'id', odd);
  await bench.import('a:pi', 'other', { contextTokens: 1 });
  assert.equal(await bench.get('a:pi'), { sessionId: 'id', usage: odd });
  await bench.import('b:pi', undefined, { contextTokens: -5 });
  await bench.import('b:pi', 'late');
  assert.equal(await bench.get('b:pi'), { sessionId: 'late', usage: { contextTokens: -5 } });
});

test('import: the cap applies from the next report', async () => {
  const bench = new SessionBench();
  await bench.import(SESSION, 'id', { contextTokens: 250_000, contextWindow: 200_000 });
  await bench.usage({ contextTokens: 180_000 });
  assert.is((await bench.get()).usage?.contextTokens, 200_000);
});

test('import: it does not stand against what was reported, compacted or reset', async () => {
  const bench = new SessionBench();
  const old = { contextTokens: 99, contextWindow: 100 };
  await bench.usage(FULL);
  await bench.import(SESSION, 'id', old);
  assert.equal(await bench.get(), { sessionId: 'id', usage: FULL });
  await bench.compact();
  await bench.import(SESSION, undefined, old);
  assert.equal(await bench.get(), { sessionId: 'id' });
  await bench.reset();
  await bench.import(SESSION, 'id', old);
  await bench.reset('never:heard');
  await bench.import('never:heard', 'id', old);
  assert.equal([await bench.get(), await bench.get('never:heard')], [{}, {}]);
});

test.run();
