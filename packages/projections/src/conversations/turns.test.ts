import { JsonText, streamOf } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { START_AT } from '../testing/fold-bench.ts';
import { ConversationBench, KEY } from './conversation-bench.ts';
import { listConversations } from './reads.ts';

test('turn: the prompt comes as it starts, the answer as it ends', async () => {
  const bench = new ConversationBench();
  assert.is(await bench.shown(), undefined);
  await bench.start('t1', 'question');
  assert.equal(await bench.shown(), ['>question']);
  await bench.output('t1', 'an ');
  await bench.output('t1', 'ans');
  assert.equal(await bench.shown(), ['>question']);
  await bench.end('t1', { text: 'wer' });
  assert.equal(await bench.shown(), ['>question', '<an answer']);
});

test('turn: a whole answer replaces what was gathered', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'question');
  await bench.output('t1', 'a draft');
  await bench.end('t1', { text: 'final', whole: true });
  assert.equal(await bench.shown(), ['>question', '<final']);
});

test('turn: thinking and tools never enter the shard', async () => {
  const bench = new ConversationBench();
  const turn = { bridgeId: 'b', turnId: 't1', provider: 'codex' };
  const stream = streamOf.conversation(KEY);
  await bench.start('t1', 'question');
  await bench.take(stream, 'turn_output', { ...turn, thinking: 'hm' });
  await bench.take(stream, 'tool_started', { ...turn, toolCallId: 'c', name: 'read' });
  await bench.take(stream, 'tool_ended', {
    ...turn,
    toolCallId: 'c',
    result: JsonText.of('x'),
    isError: false,
  });
  await bench.end('t1', { text: 'answer' });
  assert.equal(await bench.shown(), ['>question', '<answer']);
});

test('turn: an empty answer makes no row, and a turn without a prompt none for the user', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'question');
  await bench.end('t1');
  await bench.start('t2');
  await bench.end('t2', { text: 'by itself' });
  assert.equal(await bench.shown(), ['>question', '<by itself']);
});

test('turn: text is kept exactly, in pieces that split a character too', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'nul \0 and \ud800');
  await bench.output('t1', '\ud83d');
  await bench.end('t1', { text: '\ude80' });
  assert.equal(await bench.shown(), ['>nul \0 and \ud800', '<🚀']);
});

test('turn: a prompt that is told of after its turn began takes its place before the answer', async () => {
  const bench = new ConversationBench();
  const stream = streamOf.conversation(KEY);
  await bench.start('t1');
  await bench.end('t1', { text: 'first' });
  await bench.start('t2');
  await bench.output('t2', 'second');
  const queued = { bridgeId: 'b', promptId: 'p', text: 'late', place: 0 };
  await bench.take(stream, 'prompt_queued', { ...queued, text: 'for a turn to come' });
  await bench.take(stream, 'prompt_queued', { ...queued, turnId: 't2' });
  await bench.take(stream, 'prompt_queued', { ...queued, turnId: 't2', text: 'again' });
  await bench.take(stream, 'prompt_queued', { ...queued, turnId: 't1', text: 'later still' });
  await bench.end('t2');
  assert.equal(await bench.shown(), ['>later still', '<first', '>late', '<second']);
});

test('turn: turns of two bridges keep the order in which they began', async () => {
  const bench = new ConversationBench();
  await bench.start('x/t1', 'one');
  await bench.start('y/t1', 'two');
  await bench.output('y/t1', 'answer ');
  await bench.output('x/t1', 'reply ');
  await bench.end('y/t1', { text: 'two' });
  await bench.end('x/t1', { text: 'one' });
  assert.equal(await bench.shown(), ['>one', '<reply one', '>two', '<answer two']);
});

test('turn: ids of bridge and turn cannot be taken for those of another pair', async () => {
  const bench = new ConversationBench();
  await bench.start('b1/1', 'one');
  await bench.start('b/11', 'two');
  await bench.end('b/11', { text: 'second' });
  await bench.end('b1/1', { text: 'first' });
  assert.equal(await bench.shown(), ['>one', '<first', '>two', '<second']);
});

test('interruption: the partial text stays, and a late end completes it in place', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'one');
  await bench.output('t1', 'half ');
  await bench.interrupt('t1', { text: 'an ' });
  assert.equal(await bench.shown(), ['>one', '<half an ']);
  await bench.turn('t2', 'two', 'second');
  await bench.output('t1', 'ans');
  await bench.end('t1', { text: 'wer' });
  assert.equal(await bench.shown(), ['>one', '<half an answer', '>two', '<second']);
  await bench.end('t1', { text: 'twice' });
  await bench.output('t1', 'later still');
  await bench.interrupt('t1', { text: 'no' });
  assert.equal(await bench.shown(), ['>one', '<half an answer', '>two', '<second']);
});

test('interruption: a late end that tells the whole answer replaces the partial one', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'one');
  await bench.interrupt('t1', { text: 'half' });
  await bench.end('t1', { text: 'half an answer', whole: true });
  assert.equal(await bench.shown(), ['>one', '<half an answer']);
});

test('interruption: without any text there is no row, until a late end brings one', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'one');
  await bench.interrupt('t1');
  assert.equal(await bench.shown(), ['>one']);
  await bench.end('t1', { text: 'after all', whole: true });
  assert.equal(await bench.shown(), ['>one', '<after all']);
});

test('interruption: it is no activity of the conversation', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'one');
  await bench.output('t1', 'half');
  await bench.interrupt('t1');
  const { conversations } = await listConversations(bench.tables);
  assert.equal(conversations, [
    { conversationKey: KEY, messages: 2, updatedAt: START_AT + 1_000, provider: 'codex' },
  ]);
});

test('turn: what is late of a turn that never began here is left out', async () => {
  const bench = new ConversationBench();
  await bench.turn('t1', 'one', 'first');
  await bench.output('unknown', 'x');
  await bench.end('unknown', { text: 'y' });
  await bench.end('t1', { text: 'z' }, 'thread:other');
  assert.equal(await bench.shown(), ['>one', '<first']);
  assert.is(await bench.shown('thread:other'), undefined);
});

test('turn: what happens on a bridge without a conversation is no conversation', async () => {
  const bench = new ConversationBench();
  await bench.take(streamOf.bridge('b'), 'turn_started', {
    bridgeId: 'b',
    provider: 'codex',
    turnId: 't1',
    prompt: 'one',
    purpose: 'prompt',
    injected: 'none',
  });
  assert.equal(bench.tables.dump(), {});
});

test('turn: its cost does not depend on how long the conversation is', async () => {
  const bench = new ConversationBench();
  const costs = new Set<number>();
  for (let number = 0; number < 300; number += 1) {
    const before = bench.tables.writes;
    await bench.start(`t${number}`, 'question');
    for (let piece = 0; piece < 3; piece += 1) await bench.output(`t${number}`, 'text');
    await bench.end(`t${number}`, { text: 'end' });
    // The first turn brings the conversation about; every later one costs the same.
    if (number > 0) costs.add(bench.tables.writes - before);
  }
  assert.is(costs.size, 1);
  assert.ok(Math.max(...costs) <= 16);
});

test.run();
