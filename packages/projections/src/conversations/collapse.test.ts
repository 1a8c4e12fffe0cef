import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CONTINUE_TEXT } from './collapse.ts';
import { ConversationBench } from './conversation-bench.ts';
import { listConversations } from './reads.ts';

const CONTINUE = `>${CONTINUE_TEXT}`;

async function threeTurns(): Promise<ConversationBench> {
  const bench = new ConversationBench();
  await bench.turn('t1', 'u1', 'a1');
  await bench.turn('t2', 'u2', 'a2');
  await bench.turn('t3', 'u3', 'a3');
  return bench;
}

test('collapse: without a summary the shard stays whole', async () => {
  const bench = await threeTurns();
  await bench.compact();
  await bench.compact('');
  assert.equal(await bench.shown(), ['>u1', '<a1', '>u2', '<a2', '>u3', '<a3']);
});

test('collapse: with a summary the shard becomes two messages', async () => {
  const bench = await threeTurns();
  await bench.compact('S');
  assert.equal(await bench.shown(), [CONTINUE, '<S']);
  await bench.turn('t4', 'u4', 'a4');
  assert.equal(await bench.shown(), [CONTINUE, '<S', '>u4', '<a4']);
});

test('collapse: a second compaction keeps what the first one kept', async () => {
  const bench = await threeTurns();
  await bench.compact('S1', 't2');
  await bench.turn('t4', 'u4', 'a4');
  assert.equal(await bench.shown(), [CONTINUE, '<S1', '>u2', '<a2', '>u3', '<a3', '>u4', '<a4']);
  const again = await threeTurns();
  await again.compact('S1', 't2');
  await again.turn('t4', 'u4', 'a4');
  await again.compact('S2', 't3');
  assert.equal(await again.shown(), [CONTINUE, '<S2', '>u3', '<a3', '>u4', '<a4']);
  await bench.compact('S2', 't4');
  assert.equal(await bench.shown(), [CONTINUE, '<S2', '>u4', '<a4']);
});

test('collapse: what was imported or handed over goes with what comes before the kept turns', async () => {
  const bench = new ConversationBench();
  await bench.import('thread:one', 'q', 'r');
  await bench.turn('t1', 'u1', 'a1');
  await bench.turn('t2', 'u2', 'a2');
  await bench.compact('S', 't2');
  assert.equal(await bench.shown(), [CONTINUE, '<S', '>u2', '<a2']);
});

test('collapse: an open turn completes after the summary', async () => {
  const bench = await threeTurns();
  await bench.start('t4', 'u4');
  await bench.output('t4', 'half ');
  await bench.compact('S');
  await bench.end('t4', { text: 'a4' });
  await bench.turn('t5', 'u5', 'a5');
  assert.equal(await bench.shown(), [CONTINUE, '<S', '<half a4', '>u5', '<a5']);
});

test('collapse: an open turn that is kept keeps its prompt', async () => {
  const bench = await threeTurns();
  await bench.start('t4', 'u4');
  await bench.compact('S', 't4');
  await bench.end('t4', { text: 'a4' });
  assert.equal(await bench.shown(), [CONTINUE, '<S', '>u4', '<a4']);
});

test('collapse: what was interrupted and is told of by the summary has no place for a late end', async () => {
  const bench = await threeTurns();
  await bench.start('t4', 'u4');
  await bench.interrupt('t4', { text: 'half' });
  await bench.output('t4', 'late');
  await bench.turn('t5', 'u5', 'a5');
  await bench.compact('S', 't5');
  await bench.end('t4', { text: 'late' });
  assert.equal(await bench.shown(), [CONTINUE, '<S', '>u5', '<a5']);
  assert.is(bench.tables.dump().outputs, undefined);
});

test('collapse: an interrupted turn that is kept is still completed by its late end', async () => {
  const bench = await threeTurns();
  await bench.start('t4', 'u4');
  await bench.interrupt('t4', { text: 'half ' });
  await bench.compact('S', 't3');
  await bench.end('t4', { text: 'a4' });
  assert.equal(await bench.shown(), [CONTINUE, '<S', '>u3', '<a3', '>u4', '<half a4']);
});

test('collapse: the kept turn is one of the bridge that compacts, else the last of that name', async () => {
  const bench = new ConversationBench();
  await bench.turn('x/t1', 'x1', 'a');
  await bench.turn('y/t1', 'y1', 'b');
  await bench.turn('y/t2', 'y2', 'c');
  await bench.compact('S', 't1', 'new');
  assert.equal(await bench.shown(), [CONTINUE, '<S', '>y1', '<b', '>y2', '<c']);
  const other = new ConversationBench();
  await other.turn('x/t1', 'x1', 'a');
  await other.turn('y/t1', 'y1', 'b');
  await other.compact('S', 't1', 'x');
  assert.equal(await other.shown(), [CONTINUE, '<S', '>x1', '<a', '>y1', '<b']);
});

test('collapse: a kept turn that is not known keeps nothing', async () => {
  const bench = await threeTurns();
  await bench.compact('S', 'never');
  assert.equal(await bench.shown(), [CONTINUE, '<S']);
});

test('collapse: what is not there is not brought about by a summary', async () => {
  const bench = new ConversationBench();
  await bench.compact('S');
  assert.is(await bench.shown(), undefined);
});

test('collapse: messages are counted', async () => {
  const bench = await threeTurns();
  await bench.compact('S1', 't3');
  await bench.compact('S2', 't3');
  assert.is((await listConversations(bench.tables)).conversations[0]?.messages, 4);
});

test.run();
