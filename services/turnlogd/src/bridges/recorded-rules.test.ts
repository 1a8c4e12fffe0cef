/* What holds of recorded bridges when time passes, the disk fails, a daemon closes or an answer is lost. */
import { GATHER_BYTES_MAX, GATHER_WINDOW_MS } from '@turnlog/bridge';
import { type ReportedEvent, TurnlogError } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BridgeBench, settle } from '../testing.ts';
import { HOST_RETURN_MS } from './bridge-dependencies.ts';

const one = { bridgeId: 'b1', provider: 'codex', conversationKey: 'thread:s' };
const two = { bridgeId: 'b2', provider: 'claude', conversationKey: 'thread:s' };
const start: ReportedEvent = { type: 'turn_start', turnId: 't1' };
const delta = (text: string): ReportedEvent => ({ type: 'text_delta', turnId: 't1', delta: text });
const end: ReportedEvent = { type: 'turn_end', turnId: 't1' };
const closed: ReportedEvent = { type: 'closed', code: 0 };

async function codeOf(task: Promise<unknown>): Promise<string> {
  try {
    await task;
    return 'none';
  } catch (error) {
    return error instanceof TurnlogError ? error.code : String(error);
  }
}

async function withBridge(): Promise<BridgeBench> {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  return bench;
}

const tell = (bench: BridgeBench, ...reports: ReportedEvent[]) =>
  bench.bridges.report({ bridgeId: 'b1', reports });

test('window: it begins with the first delta, not with the last', async () => {
  const bench = await withBridge();
  await tell(bench, start, delta('a'));
  await bench.environment.pass(GATHER_WINDOW_MS - 100);
  await tell(bench, delta('b'));
  await bench.environment.pass(100);
  assert.equal(bench.told(4), ['turn_output b1 t1 ab']);
  await tell(bench, delta('c'));
  await bench.environment.pass(GATHER_WINDOW_MS - 1);
  assert.is(bench.records.length, 4, 'the next delta has a window of its own');
});

test('window: so much text does not wait for its end', async () => {
  const bench = await withBridge();
  const long = 'x'.repeat(GATHER_BYTES_MAX);
  const { accepted, durableThrough } = await tell(bench, start, delta(long));
  assert.equal({ accepted, durableThrough }, { accepted: 2, durableThrough: 2 });
  assert.is(bench.environment.waiting, 0);
});

test('window: all but deltas is on disk with the answer, whatever was gathered before it', async () => {
  const bench = await withBridge();
  await tell(bench, start, delta('a'));
  const { durableThrough } = await tell(bench, { type: 'session_id', sessionId: 'S' });
  assert.is(durableThrough, 3);
  assert.equal(bench.told(4), ['turn_output b1 t1 a', 'session_bound b1 t1']);
});

test('window: what is only shown is known to have been accepted after it, also by the next daemon', async () => {
  const bench = await withBridge();
  await tell(bench, { type: 'ready' }, { type: 'status', message: 'm' });
  assert.is((await tell(bench)).durableThrough, 0);
  await bench.environment.pass(GATHER_WINDOW_MS);
  assert.is((await tell(bench)).durableThrough, 2);
  bench.restart();
  assert.is((await bench.bridges.record(one)).accepted, 2);
});

test('return: attaching, an empty report and a report that leaves a gap are each a return', async () => {
  const returns = [
    (bench: BridgeBench) => bench.bridges.record(one),
    (bench: BridgeBench) => tell(bench),
    (bench: BridgeBench) => codeOf(bench.bridges.report({ bridgeId: 'b1', first: 9, reports: [end] })),
  ];
  for (const comeBack of returns) {
    const bench = await withBridge();
    await tell(bench, start);
    bench.restart();
    await bench.environment.pass(HOST_RETURN_MS - 1);
    await comeBack(bench);
    await bench.environment.pass(HOST_RETURN_MS);
    assert.is((await bench.bridges.list()).bridges[0]?.turnId, 't1');
  }
});

test('return: looking at the bridges is none, and neither is a bridge that begins no turn', async () => {
  const bench = await withBridge();
  await tell(bench, start);
  bench.restart();
  await bench.bridges.record(two);
  await bench.bridges.report({ bridgeId: 'b2', reports: [{ type: 'session_id', sessionId: 'S' }] });
  assert.is((await bench.bridges.list()).bridges[0]?.turnId, 't1');
  await bench.environment.pass(HOST_RETURN_MS);
  assert.is((await bench.bridges.list()).bridges[0]?.turnId, undefined);
  assert.is(bench.told().at(-1), 'turn_interrupted b1 t1 restart');
});

test('return: a turn that was given up is completed by a late end all the same', async () => {
  const bench = await withBridge();
  await tell(bench, start);
  bench.restart();
  await bench.environment.pass(HOST_RETURN_MS);
  await tell(bench, { type: 'turn_end', turnId: 't1', text: 'after all' });
  assert.equal(bench.told(4), ['turn_interrupted b1 t1 restart', 'turn_ended b1 t1 after all']);
});

test('two recorders: what came before a turn in one call stands before the interruption that it causes', async () => {
  const bench = await withBridge();
  await bench.bridges.record(two);
  await tell(bench, start, delta('half'));
  const { emitted } = await bench.bridges.report({
    bridgeId: 'b2',
    reports: [{ type: 'session_id', sessionId: 'S' }, start],
  });
  assert.equal(bench.told(6), [
    'session_bound b2',
    'turn_interrupted b1 t1 half replaced',
    'turn_started b2 t1',
  ]);
  assert.equal(
    emitted.map((event) => (event as { seq?: number }).seq),
    [6, 8],
  );
});

test('two recorders: one id is one bridge, and its numbers go on whoever reports', async () => {
  const bench = await withBridge();
  const opened = await Promise.all([bench.bridges.record(one), bench.bridges.record(one)]);
  assert.equal(
    opened.map(({ attached }) => attached),
    [true, true],
  );
  await tell(bench, start);
  await bench.bridges.report({ bridgeId: 'b1', first: 2, reports: [end] });
  assert.is((await bench.bridges.record(one)).accepted, 2);
});

test('failure: deltas that could not be written are tried again though nothing more comes', async () => {
  const bench = await withBridge();
  await tell(bench, start, delta('a'));
  bench.failNext = new Error('disk');
  await bench.environment.pass(GATHER_WINDOW_MS);
  assert.is(bench.failures.length, 1);
  await bench.environment.pass(60_000);
  assert.equal(bench.told(4), ['turn_output b1 t1 a']);
  assert.is(bench.environment.waiting, 0);
});

test('failure: a turn that could not be given up is given up later', async () => {
  const bench = await withBridge();
  await tell(bench, start);
  bench.restart();
  bench.failNext = new Error('disk');
  await bench.environment.pass(HOST_RETURN_MS);
  assert.is((await bench.bridges.list()).bridges[0]?.turnId, 't1');
  await bench.environment.pass(HOST_RETURN_MS);
  assert.equal(bench.told(4), ['turn_interrupted b1 t1 restart']);
});

test('close: it comes to its end on a disk that fails, and nothing waits afterwards', async () => {
  const bench = await withBridge();
  await tell(bench, start, delta('a'));
  bench.failNext = new Error('disk');
  await bench.bridges.close();
  assert.is(bench.failures.length, 1);
  assert.is(bench.environment.waiting, 0);
});

test('close: what comes while it is under way is taken before it or refused', async () => {
  const bench = await withBridge();
  await tell(bench, start);
  const taken = tell(bench, delta('a'));
  const closing = bench.bridges.close();
  const refused = [tell(bench, delta('b')), bench.bridges.record(two), bench.bridges.stop('b1')];
  assert.equal(await Promise.all(refused.map(codeOf)), ['store_closed', 'store_closed', 'store_closed']);
  const isTaken = (await codeOf(taken)) === 'none';
  await closing;
  await settle();
  assert.equal(bench.told(4), isTaken ? ['turn_output b1 t1 a'] : []);
  assert.is(bench.environment.waiting, 0);
});

test('end: what ended the bridge is answered again, and nothing else of it is', async () => {
  const bench = await withBridge();
  const last = { bridgeId: 'b1', first: 3, reports: [closed] };
  await tell(bench, start, end);
  await bench.bridges.report(last);
  const { length } = bench.records;
  for (const isRestarted of [false, true]) {
    if (isRestarted) bench.restart();
    assert.equal(await bench.bridges.report(last), {
      seq: length,
      accepted: 3,
      durableThrough: 3,
      emitted: [],
    });
    const all = await bench.bridges.report({ bridgeId: 'b1', first: 1, reports: [start, end, closed] });
    assert.is(all.accepted, 3);
    assert.is(await codeOf(bench.bridges.report({ ...last, first: 4 })), 'bridge_not_found');
    assert.is(await codeOf(tell(bench, closed)), 'bridge_not_found', 'without a number it may be another');
  }
  assert.is(bench.records.length, length);
});

test.run();
