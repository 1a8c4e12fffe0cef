import { GATHER_WINDOW_MS } from '@turnlog/bridge';
import { TurnlogError } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DaemonError } from '../errors.ts';
import { BridgeBench, settle } from '../testing.ts';

const one = { bridgeId: 'b1', provider: 'codex', conversationKey: 'thread:s' };
const two = { bridgeId: 'b2', provider: 'claude', conversationKey: 'thread:s' };
const full = () => new DaemonError('storage_full', 'the disk is full');

async function codeOf(task: Promise<unknown>): Promise<string> {
  try {
    await task;
    return 'none';
  } catch (error) {
    return error instanceof TurnlogError ? error.code : String(error);
  }
}

const start = (turnId: string) => ({ type: 'turn_start' as const, turnId });
const delta = (text: string) => ({ type: 'text_delta' as const, turnId: 't1', delta: text });
const end = (text?: string) => ({
  type: 'turn_end' as const,
  turnId: 't1',
  ...(text !== undefined && { text }),
});

/** The log is full: appends fail, and what became of the first of them is not known. */
function fill(bench: BridgeBench, isWritten: boolean): void {
  const error = full();
  if (isWritten) bench.failAfterNext = error;
  else bench.failNext = error;
  bench.unsettled = error;
}

test('unsure: a report that is in the log though its append failed is taken once', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  const call = { bridgeId: 'b1', first: 1, reports: [start('t1')] };
  fill(bench, true);
  assert.is(await codeOf(bench.bridges.report(call)), 'storage_full');
  assert.is(await codeOf(bench.bridges.report(call)), 'storage_full', 'it cannot be known yet');
  bench.unsettled = undefined;
  const again = await bench.bridges.report(call);
  assert.equal([again.accepted, again.durableThrough], [1, 1]);
  assert.equal(bench.told(3), ['turn_started b1 t1']);
  await bench.bridges.report({ bridgeId: 'b1', first: 2, reports: [end('done')] });
  assert.equal(bench.told(4), ['turn_ended b1 t1 done']);
});

test('unsure: a report that is not in the log leaves what was gathered, and is taken when it is sent again', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', first: 1, reports: [start('t1'), delta('a')] });
  fill(bench, false);
  const call = { bridgeId: 'b1', first: 3, reports: [end()] };
  assert.is(await codeOf(bench.bridges.report(call)), 'storage_full');
  bench.unsettled = undefined;
  assert.is((await bench.bridges.report(call)).durableThrough, 3);
  assert.equal(bench.told(4), ['turn_ended b1 t1 a']);
});

test('unsure: deltas that are in the log though their flush failed are not written again', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', first: 1, reports: [start('t1'), delta('a')] });
  fill(bench, true);
  await bench.environment.pass(GATHER_WINDOW_MS);
  assert.is(bench.failures.length, 1);
  bench.unsettled = undefined;
  await bench.bridges.settle();
  const where = await bench.bridges.report({ bridgeId: 'b1', reports: [] });
  assert.equal([where.accepted, where.durableThrough], [2, 2]);
  await bench.bridges.report({ bridgeId: 'b1', first: 3, reports: [delta('b'), end()] });
  assert.equal(bench.told(4), ['turn_output b1 t1 a', 'turn_ended b1 t1 b']);
});

test('unsure: deltas that came before the failure and are not in the log are still written', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', first: 1, reports: [start('t1'), delta('a')] });
  fill(bench, false);
  await bench.environment.pass(GATHER_WINDOW_MS);
  bench.unsettled = undefined;
  await bench.bridges.settle();
  await bench.environment.pass(60_000);
  assert.equal(bench.told(4), ['turn_output b1 t1 a']);
});

test('unsure: a bridge whose opening is in the log though its append failed is attached to', async () => {
  const bench = new BridgeBench();
  fill(bench, true);
  assert.is(await codeOf(bench.bridges.record(one)), 'storage_full');
  bench.unsettled = undefined;
  await bench.bridges.settle();
  assert.is(bench.bridges.size, 1);
  const again = await bench.bridges.record(one);
  assert.equal([again.attached, again.accepted], [true, 0]);
  assert.is(bench.records.length, 2);
});

test('unsure: a stop that is in the log though its append failed has stopped the bridge', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [start('t1'), delta('a')] });
  fill(bench, true);
  assert.is(await codeOf(bench.bridges.stop('b1')), 'storage_full');
  bench.unsettled = undefined;
  await bench.bridges.settle();
  assert.equal([bench.bridges.size, bench.environment.waiting], [0, 0]);
  assert.is(await codeOf(bench.bridges.stop('b1')), 'bridge_not_found');
  const again = await bench.bridges.record(one);
  assert.not(again.attached);
});

test('unsure: what the append would have done to other bridges is learnt, too', async () => {
  for (const isWritten of [true, false]) {
    const bench = new BridgeBench();
    await bench.bridges.record(one);
    await bench.bridges.record(two);
    await bench.bridges.report({ bridgeId: 'b1', first: 1, reports: [start('t1'), delta('half')] });
    fill(bench, isWritten);
    const call = { bridgeId: 'b2', first: 1, reports: [start('t2')] };
    assert.is(await codeOf(bench.bridges.report(call)), 'storage_full');
    bench.unsettled = undefined;
    await bench.bridges.report({ bridgeId: 'b1', first: 3, reports: [end('whole')] });
    const written = ['turn_interrupted b1 t1 half replaced', 'turn_started b2 t2'];
    assert.equal(bench.told(6), [...(isWritten ? written : []), 'turn_ended b1 t1 whole']);
    await bench.bridges.report(call);
    await settle();
    assert.is(bench.records.filter(({ type }) => type === 'turn_started').length, 2);
  }
});

test('memory: bridges with nothing under way leave it, and are taken from the log when they are used again', async () => {
  const bench = new BridgeBench({ bridgesInMemoryMax: 4 });
  const bridgeAt = (place: number) => ({
    ...{ bridgeId: `b${String(place).padStart(2, '0')}`, provider: 'codex' },
    conversationKey: `thread:${place}`,
  });
  for (let place = 0; place < 40; place += 1) {
    await bench.bridges.record(bridgeAt(place));
    const { bridgeId } = bridgeAt(place);
    await bench.bridges.report({ bridgeId, first: 1, reports: [start('t1'), end('a')] });
  }
  assert.is(bench.bridges.size, 40);
  assert.ok(bench.bridges.inMemory <= 4, `${bench.bridges.inMemory} are in memory`);

  const read = bench.statesRead;
  const again = await bench.bridges.report({ bridgeId: 'b00', first: 1, reports: [start('t1'), end('a')] });
  assert.equal([again.accepted, bench.statesRead - read], [2, 1], 'it knows what it had accepted');
  await bench.bridges.report({ bridgeId: 'b00', first: 3, reports: [start('t2')] });
  assert.is(bench.statesRead - read, 1);
  assert.is((await bench.bridges.record(bridgeAt(1))).attached, true);

  const { bridges, next } = await bench.bridges.list({ limit: 15 });
  assert.equal([bridges.length, next, bridges[0]?.turnId], [15, 'b14', 't2']);
  const rest = await bench.bridges.list({ after: next ?? '' });
  assert.equal([rest.bridges.length, rest.next], [25, undefined]);
  const some = await bench.bridges.list({ limit: 1 }, { mayUse: ({ bridgeId }) => bridgeId > 'b37' });
  assert.equal([some.bridges.map(({ bridgeId }) => bridgeId), some.next], [['b38'], 'b38']);
});

test('memory: a bridge with an open turn or with deltas that wait stays', async () => {
  const bench = new BridgeBench({ bridgesInMemoryMax: 2 });
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', first: 1, reports: [start('t1'), delta('half')] });
  for (let place = 0; place < 30; place += 1) {
    await bench.bridges.record({
      bridgeId: `other ${place}`,
      provider: 'pi',
      conversationKey: `thread:${place}`,
    });
  }
  const read = bench.statesRead;
  await bench.bridges.report({ bridgeId: 'b1', first: 3, reports: [delta(' and')] });
  assert.is(bench.statesRead, read);
  await bench.bridges.record(two);
  await bench.bridges.report({ bridgeId: 'b2', reports: [start('t2')] });
  assert.ok(bench.told().includes('turn_interrupted b1 t1 half and replaced'));
});

test('memory: a start takes up the bridges with an open turn and no other', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [start('t1')] });
  for (let place = 0; place < 10; place += 1) {
    await bench.bridges.record({
      bridgeId: `other ${place}`,
      provider: 'pi',
      conversationKey: `thread:${place}`,
    });
  }
  bench.restart();
  await settle();
  assert.equal([bench.bridges.size, bench.bridges.inMemory], [11, 1]);
  await bench.bridges.stop('other 3');
  assert.is(bench.bridges.size, 10);
  assert.is((await bench.bridges.list()).bridges.length, 10);
});

test.run();
