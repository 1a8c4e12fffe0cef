import { streamOf } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isCleared } from './cleared-list.ts';
import { ConversationBench, KEY } from './conversation-bench.ts';
import { listConversations } from './reads.ts';

test('clear: the rows go and the key is on the list, until a turn begins', async () => {
  const bench = new ConversationBench();
  await bench.turn('t1', 'one', 'first');
  await bench.clear();
  assert.equal(await bench.shown(), []);
  assert.is(await isCleared(bench.tables, KEY), true);
  assert.equal((await listConversations(bench.tables)).conversations, []);
  await bench.turn('t2', 'two', 'second');
  assert.is(await isCleared(bench.tables, KEY), false);
  assert.equal(await bench.shown(), ['>two', '<second']);
});

test('clear: nothing of a turn begun before it enters afterwards', async () => {
  const bench = new ConversationBench();
  await bench.start('x/open', 'old');
  await bench.output('x/open', 'half');
  await bench.start('y/broken', 'old');
  await bench.interrupt('y/broken', { text: 'half' });
  await bench.clear();
  await bench.output('x/open', 'late');
  await bench.end('y/broken', { text: 'late' });
  await bench.start('z/new', 'new');
  await bench.end('x/open', { text: 'late' });
  await bench.interrupt('y/broken', { text: 'late' });
  await bench.end('z/new', { text: 'answer' });
  assert.equal(await bench.shown(), ['>new', '<answer']);
});

test('clear: the same ids after it name another turn', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'old');
  await bench.clear();
  await bench.start('t1', 'new');
  await bench.end('t1', { text: 'answer' });
  assert.equal(await bench.shown(), ['>new', '<answer']);
});

test('clear: a summary of what was cleared does not come back', async () => {
  const bench = new ConversationBench();
  await bench.start('x/old', 'old');
  await bench.clear();
  await bench.end('x/old', { text: 'summary turn' });
  await bench.compact('what was cleared', undefined, 'x');
  assert.equal(await bench.shown(), []);
  await bench.turn('y/new', 'new', 'answer');
  await bench.compact('what was cleared', undefined, 'x');
  assert.equal(await bench.shown(), ['>new', '<answer']);
  await bench.turn('x/next', 'next', 'reply');
  await bench.compact('of the new conversation', undefined, 'x');
  assert.is((await bench.shown())?.[1], '<of the new conversation');
});

test('clear: a bridge that stopped and came again may summarize', async () => {
  const bench = new ConversationBench();
  await bench.turn('x/t1', 'old', 'old');
  await bench.clear();
  await bench.take(streamOf.conversation(KEY), 'bridge_stopped', {
    bridgeId: 'x',
    provider: 'codex',
    reason: 'requested',
  });
  await bench.turn('y/t1', 'new', 'answer');
  await bench.compact('S', undefined, 'x');
  assert.is((await bench.shown())?.[1], '<S');
});

test('clear: a bridge whose turns were all summarized before it still tells of the old conversation', async () => {
  const bench = new ConversationBench();
  await bench.turn('x/t1', 'old', 'old');
  await bench.compact('S', undefined, 'x');
  await bench.clear();
  await bench.turn('y/t1', 'new', 'answer');
  await bench.compact('of what was cleared', undefined, 'x');
  assert.equal(await bench.shown(), ['>new', '<answer']);
});

test('clear: a bridge that had taken up an old session and begun no turn tells of the old one as well', async () => {
  const bench = new ConversationBench();
  const requested = { bridgeId: 'x', provider: 'codex', mode: 'recorded' as const, conversationKey: KEY };
  await bench.take(streamOf.conversation(KEY), 'bridge_requested', requested);
  await bench.clear();
  await bench.turn('y/t1', 'new', 'answer');
  await bench.compact('of what was cleared', undefined, 'x');
  assert.equal(await bench.shown(), ['>new', '<answer']);
  await bench.take(streamOf.conversation(KEY), 'bridge_requested', { ...requested, bridgeId: 'z' });
  await bench.compact('of the new one', undefined, 'z');
  assert.is((await bench.shown())?.[1], '<of the new one', 'a bridge that came after it may summarize');
});

test('clear: what is not known can be cleared, and clearing twice keeps the place on the list', async () => {
  const bench = new ConversationBench();
  await bench.clear('b');
  await bench.clear('a');
  await bench.clear('b');
  assert.equal(await bench.shown('b'), []);
  const files = await bench.files();
  assert.is(files['conversations/.agent-conversations-cleared.json'], '["b","a"]');
});

test('clear: an entry of which only the beginning was left puts the key itself on the list', async () => {
  const bench = new ConversationBench();
  await bench.take(streamOf.conversation(KEY), 'conversation_cleared', {
    conversationKey: KEY,
    reason: 'migrated',
    torn: 'thr',
  });
  assert.is(await isCleared(bench.tables, KEY), true);
  assert.is(await isCleared(bench.tables, 'thr'), false);
});

test('session reset: with a conversation key it clears the shard, without one it does not', async () => {
  const bench = new ConversationBench();
  await bench.turn('t1', 'one', 'first');
  const reset = { sessionKey: 'one:codex', reason: 'requested' };
  await bench.take(streamOf.session('one:codex'), 'session_reset', reset);
  assert.equal(await bench.shown(), ['>one', '<first']);
  await bench.take(streamOf.conversation(KEY), 'session_reset', { ...reset, conversationKey: KEY });
  assert.equal(await bench.shown(), []);
  assert.is(await isCleared(bench.tables, KEY), true);
});

test('import: it brings what is missing and changes nothing else', async () => {
  const bench = new ConversationBench();
  await bench.import('a', 'q', 'r');
  await bench.import('a', 'other');
  await bench.clear('b');
  await bench.import('b', 'cleared');
  await bench.turn('t1', 'own', 'words', 'c');
  await bench.import('c', 'legacy');
  await bench.import('d');
  assert.equal(await bench.shown('a'), ['>q', '<r']);
  assert.equal(await bench.shown('b'), []);
  assert.is(await isCleared(bench.tables, 'b'), true);
  assert.equal(await bench.shown('c'), ['>own', '<words']);
  assert.equal(await bench.shown('d'), []);
  await bench.turn('t1', 'more', 'answer', 'a');
  assert.equal(await bench.shown('a'), ['>q', '<r', '>more', '<answer']);
});

test('alias: it copies, and both go their own ways', async () => {
  const bench = new ConversationBench();
  await bench.turn('t1', 'one', 'first', 'thread:a');
  await bench.start('t2', 'open', 'thread:a');
  await bench.alias('thread:a', 'web:a');
  await bench.end('t2', { text: 'in the source only' }, 'thread:a');
  await bench.turn('t3', 'web', 'reply', 'web:a');
  assert.equal(await bench.shown('thread:a'), ['>one', '<first', '>open', '<in the source only']);
  assert.equal(await bench.shown('web:a'), ['>one', '<first', '>open', '>web', '<reply']);
});

test('alias: a target that exists or was cleared is left as it is, and an unknown source is none', async () => {
  const bench = new ConversationBench();
  await bench.import('source', 'q');
  await bench.import('there', 'own');
  await bench.clear('gone');
  await bench.alias('source', 'there');
  await bench.alias('source', 'gone');
  await bench.alias('unknown', 'new');
  await bench.alias('gone', 'new');
  assert.equal(await bench.shown('there'), ['>own']);
  assert.equal(await bench.shown('gone'), []);
  assert.is(await bench.shown('new'), undefined);
});

test('handoff: the packet is one row of the user, and makes a cleared conversation live', async () => {
  const bench = new ConversationBench();
  await bench.turn('t1', 'one', 'first');
  const handoff = { from: 'thread:else', to: KEY, bridgeId: 'b', provider: 'claude', packet: 'packet' };
  await bench.take(streamOf.conversation(KEY), 'handoff_completed', handoff);
  await bench.turn('t2', 'two', 'second');
  assert.equal(await bench.shown(), ['>one', '<first', '>packet', '>two', '<second']);
  await bench.clear();
  await bench.take(streamOf.conversation(KEY), 'handoff_completed', handoff);
  assert.equal(await bench.shown(), ['>packet']);
  assert.is(await isCleared(bench.tables, KEY), false);
});

test('clear: it leaves no row behind', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'one');
  await bench.output('t1', 'half');
  await bench.clear();
  const tables = Object.keys(bench.tables.dump());
  assert.equal(tables.sort(), ['cleared', 'cleared_order', 'marks', 'present_bridges']);
});

test.run();
