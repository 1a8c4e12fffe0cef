import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SESSION, SessionBench } from './session-bench.ts';

const FULL = { contextTokens: 170_000, contextWindow: 200_000 };
const CLAUDE = { provider: 'claude', sessionKey: 'one:claude', bridgeId: 'c' };
const OWN_KEY = { provider: 'plugin:x', sessionKey: 'some key', bridgeId: 'p' };

test('clear: every session of the conversation loses its resume id and its snapshot', async () => {
  const bench = new SessionBench();
  const elsewhere = { sessionKey: 'two:codex', conversationKey: 'thread:two' };
  for (const by of [{}, CLAUDE, OWN_KEY, elsewhere]) {
    await bench.bind('id', undefined, by);
    await bench.usage(FULL, undefined, by);
  }
  await bench.clear();
  assert.equal([await bench.get(), await bench.get('one:claude'), await bench.get('some key')], [{}, {}, {}]);
  assert.equal(await bench.get('two:codex'), { sessionId: 'id', usage: FULL });
});

test('clear: sessions that were imported lie under the usual keys of the conversation', async () => {
  const bench = new SessionBench();
  const taken = ['one:codex', 'one:openrouter', 'one:plugin:acme/reviewer', 'one:acp:gemini'];
  const left = ['one', 'one:two:codex', 'two:codex', 'thread:one:codex'];
  for (const key of [...taken, ...left]) await bench.import(key, 'id');
  await bench.clear();
  for (const key of taken) assert.equal(await bench.get(key), {}, key);
  for (const key of left) assert.equal(await bench.get(key), { sessionId: 'id' }, key);
});

test('clear: that a conversation had been cleared elsewhere takes nothing', async () => {
  const bench = new SessionBench();
  await bench.import(SESSION, 'id');
  await bench.clear('thread:one', 'migrated');
  assert.equal(await bench.get(), { sessionId: 'id' });
});

test('clear: a key that begins as another is no session of the other', async () => {
  const bench = new SessionBench();
  await bench.bind('id', undefined, { conversationKey: 'thread:oneself', sessionKey: 'a' });
  await bench.clear();
  assert.equal(await bench.get('a'), { sessionId: 'id' });
});

test("clear: the session of a conversation whose key ends like a plugin is that conversation's own", async () => {
  const bench = new SessionBench();
  const other = {
    sessionKey: 'one:plugin:x:codex',
    conversationKey: 'thread:one:plugin:x',
    provider: 'codex',
  };
  await bench.bind('id', undefined, other);
  await bench.import('one:acp:y:claude', 'id');
  await bench.clear();
  assert.equal(await bench.get('one:plugin:x:codex'), { sessionId: 'id' });
  assert.equal(await bench.get('one:acp:y:claude'), { sessionId: 'id' });
});

test('clear: what a turn begun before it reports is ignored, with its turnId and without', async () => {
  const bench = new SessionBench();
  await bench.start('t1');
  await bench.clear();
  await bench.bind('id', 't1');
  await bench.bind('id');
  await bench.usage(FULL, 't1');
  await bench.usage(FULL);
  await bench.compact({ strategy: 'native', turnId: 't1' });
  await bench.end('t1', FULL);
  await bench.usage(FULL, 't1');
  assert.equal(await bench.get(), {});
});

test('clear: a late compaction does not take what came after it', async () => {
  const bench = new SessionBench();
  await bench.start('summary');
  await bench.clear();
  await bench.start('t1', { bridgeId: 'other' });
  await bench.bind('new', 't1', { bridgeId: 'other' });
  await bench.usage(FULL, 't1', { bridgeId: 'other' });
  await bench.end('summary');
  await bench.compact({ strategy: 'summary-reset', summary: 'S', turnId: 'summary' });
  assert.equal(await bench.get(), { sessionId: 'new', usage: FULL });
});

test('clear: an interrupted turn begun before it stays ignored, also in a bridge that was opened anew', async () => {
  const bench = new SessionBench();
  await bench.start('t1');
  await bench.interrupt('t1');
  await bench.clear();
  await bench.usage(FULL);
  assert.equal(await bench.get(), {});
  await bench.request();
  await bench.bind('new');
  await bench.end('t1', FULL);
  assert.equal(await bench.get(), { sessionId: 'new' });
});

test('clear: the first turn after it counts, from the same bridge and under the same name too', async () => {
  const bench = new SessionBench();
  await bench.start('t1');
  await bench.clear();
  await bench.end('t1', FULL);
  await bench.start('t1');
  await bench.bind('new');
  await bench.end('t1', { contextTokens: 2_000 });
  assert.equal(await bench.get(), { sessionId: 'new', usage: { contextTokens: 2_000 } });
});

test('clear: reports of other bridges and of idle ones count', async () => {
  const bench = new SessionBench();
  await bench.start('t1');
  await bench.start('t1', CLAUDE);
  await bench.end('t1', undefined, CLAUDE);
  await bench.clear();
  await bench.bind('idle', undefined, CLAUDE);
  await bench.bind('other', undefined, { bridgeId: 'new' });
  assert.equal(await bench.get('one:claude'), { sessionId: 'idle' });
  assert.equal(await bench.get(), { sessionId: 'other' });
});

test.run();
