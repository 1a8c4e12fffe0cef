import { GATHER_WINDOW_MS } from '@turnlog/bridge';
import { TurnlogError } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BridgeBench, settle } from '../testing.ts';
import { HOST_RETURN_MS } from './bridge-dependencies.ts';

const one = { bridgeId: 'b1', provider: 'codex', conversationKey: 'thread:s' };
const two = { bridgeId: 'b2', provider: 'claude', conversationKey: 'thread:s' };

async function codeOf(task: Promise<unknown>): Promise<string> {
  try {
    await task;
    return 'none';
  } catch (error) {
    return error instanceof TurnlogError ? error.code : String(error);
  }
}

test('record: opens a bridge with a session key made of the conversation key', async () => {
  const bench = new BridgeBench();
  const opened = await bench.bridges.record({ ...one, model: 'm', cwd: '/w' });
  assert.equal(opened, {
    seq: 2,
    ownerToken: 'token of b1 since 1000',
    accepted: 0,
    durableThrough: 0,
    attached: false,
  });
  assert.equal(bench.records[0]?.data, {
    ...one,
    model: 'm',
    cwd: '/w',
    sessionKey: 's:codex',
    mode: 'recorded',
  });
  assert.is(bench.records[0]?.stream, 'conversation:thread:s');
});

test('record: the same bridge again is attached to, and nothing is written', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'turn_start', turnId: 't1' }] });
  const again = await bench.bridges.record(one);
  assert.is(again.attached, true);
  assert.is(again.accepted, 1);
  assert.is(bench.records.length, 3);
});

test('record: the same id for something else stops the bridge that was', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'turn_start', turnId: 't1' }] });
  const other = await bench.bridges.record({ ...one, conversationKey: 'thread:other' });
  assert.is(other.attached, false);
  assert.equal(bench.told(4), [
    'turn_interrupted b1 t1 bridge_stopped',
    'bridge_stopped b1 replaced',
    'bridge_requested b1',
    'bridge_started b1',
  ]);
  assert.is(bench.records.at(-1)?.stream, 'conversation:thread:other');
});

test('record: a provider that nobody knows is refused and nothing is written', async () => {
  const bench = new BridgeBench();
  assert.is(
    await codeOf((async () => bench.bridges.record({ ...one, provider: 'nobody' }))()),
    'provider_not_found',
  );
  assert.equal(bench.records, []);
});

test('event: a bridge that is not open, or not any more, is refused', async () => {
  const bench = new BridgeBench();
  assert.is(await codeOf(bench.bridges.report({ bridgeId: 'b1', reports: [] })), 'bridge_not_found');
  await bench.bridges.record(one);
  await bench.bridges.stop('b1');
  assert.is(await codeOf(bench.bridges.report({ bridgeId: 'b1', reports: [] })), 'bridge_not_found');
});

test('numbers: what was accepted is ignored, a gap is refused, the rest is taken', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  const reports = [
    { type: 'turn_start' as const, turnId: 't1' },
    { type: 'text_delta' as const, turnId: 't1', delta: 'a' },
  ];
  const first = await bench.bridges.report({ bridgeId: 'b1', first: 1, reports });
  assert.is(first.accepted, 2);
  assert.is(first.durableThrough, 1, 'the delta is only gathered');
  const end = { type: 'turn_end' as const, turnId: 't1' };
  const again = await bench.bridges.report({ bridgeId: 'b1', first: 1, reports: [...reports, end] });
  assert.is(again.accepted, 3);
  assert.is(again.durableThrough, 3);
  assert.equal(bench.told(3), ['turn_started b1 t1', 'turn_ended b1 t1 a']);
  assert.is(await codeOf(bench.bridges.report({ bridgeId: 'b1', first: 5, reports: [end] })), 'event_gap');
  assert.is(bench.records.length, 4);
});

test('numbers: an empty list says where the host stands', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  assert.equal(await bench.bridges.report({ bridgeId: 'b1', reports: [] }), {
    seq: 2,
    accepted: 0,
    durableThrough: 0,
    emitted: [],
  });
});

test('deltas: written after their window though nothing more comes', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'text_delta', turnId: 't1', delta: 'a' }] });
  await bench.environment.pass(GATHER_WINDOW_MS - 1);
  assert.is(bench.records.length, 3);
  await bench.environment.pass(1);
  assert.equal(bench.told(4), ['turn_output b1 t1 a']);
  const { durableThrough } = await bench.bridges.report({ bridgeId: 'b1', reports: [] });
  assert.is(durableThrough, 1);
});

test('deltas: a kill loses only what was not durable, and the host sends it again', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', first: 1, reports: [{ type: 'turn_start', turnId: 't1' }] });
  await bench.bridges.report({
    bridgeId: 'b1',
    first: 2,
    reports: [{ type: 'text_delta', turnId: 't1', delta: 'a' }],
  });
  bench.restart();
  const attached = await bench.bridges.record(one);
  assert.is(attached.attached, true);
  assert.is(attached.accepted, 1);
  await bench.bridges.report({
    bridgeId: 'b1',
    first: 2,
    reports: [
      { type: 'text_delta', turnId: 't1', delta: 'a' },
      { type: 'turn_end', turnId: 't1' },
    ],
  });
  assert.equal(bench.told(4), ['turn_ended b1 t1 a']);
});

test('one turn at a time: a turn of another bridge interrupts the open one, with its text', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.record(two);
  await bench.bridges.report({
    bridgeId: 'b1',
    reports: [{ type: 'text_delta', turnId: 't1', delta: 'half' }],
  });
  await bench.bridges.report({ bridgeId: 'b2', reports: [{ type: 'turn_start', turnId: 't1' }] });
  assert.equal(bench.told(6), ['turn_interrupted b1 t1 half replaced', 'turn_started b2 t1']);
  await bench.bridges.report({
    bridgeId: 'b1',
    reports: [{ type: 'turn_end', turnId: 't1', text: 'whole' }],
  });
  assert.equal(bench.told(8), ['turn_ended b1 t1 whole']);
  assert.is((await bench.bridges.list()).bridges.find(({ bridgeId }) => bridgeId === 'b2')?.turnId, 't1');
  assert.is(bench.environment.waiting, 0, 'nothing of the interrupted turn waits to be written');
});

test('restart: an open turn waits for its host, who goes on with it', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'turn_start', turnId: 't1' }] });
  bench.restart();
  await bench.environment.pass(HOST_RETURN_MS - 1);
  await bench.bridges.report({ bridgeId: 'b1', reports: [] });
  await bench.environment.pass(HOST_RETURN_MS * 2);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'turn_end', turnId: 't1', text: 'done' }] });
  assert.equal(bench.told(4), ['turn_ended b1 t1 done']);
});

test('restart: a host that does not return in time has its turn interrupted', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'turn_start', turnId: 't1' }] });
  bench.restart();
  await bench.environment.pass(HOST_RETURN_MS);
  assert.equal(bench.told(4), ['turn_interrupted b1 t1 restart']);
  assert.is((await bench.bridges.list()).bridges[0]?.state, 'idle');
});

test('restart: a turn of another bridge does not wait for the host', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'turn_start', turnId: 't1' }] });
  bench.restart();
  await bench.bridges.record(two);
  await bench.bridges.report({ bridgeId: 'b2', reports: [{ type: 'turn_start', turnId: 't2' }] });
  await bench.environment.pass(HOST_RETURN_MS);
  assert.equal(bench.told(6), ['turn_interrupted b1 t1 replaced', 'turn_started b2 t2']);
});

test('failure: an append that failed changes nothing, and the same report is taken again', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  const call = { bridgeId: 'b1', first: 1, reports: [{ type: 'turn_start' as const, turnId: 't1' }] };
  bench.failNext = new Error('disk');
  assert.is(await codeOf(bench.bridges.report(call)), 'Error: disk');
  assert.is((await bench.bridges.list()).bridges[0]?.state, 'idle');
  assert.is((await bench.bridges.report(call)).accepted, 1);
  assert.equal(bench.told(3), ['turn_started b1 t1']);
});

test('failure: deltas whose window ends on a failing disk stay gathered and are reported as a failure', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'text_delta', turnId: 't1', delta: 'a' }] });
  bench.failNext = new Error('disk');
  await bench.environment.pass(GATHER_WINDOW_MS);
  assert.is(bench.failures.length, 1);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'turn_end', turnId: 't1' }] });
  assert.equal(bench.told(4), ['turn_ended b1 t1 a']);
});

test('close: what is gathered is written, and the bridges stay open for the next daemon', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'text_delta', turnId: 't1', delta: 'a' }] });
  await bench.bridges.close();
  await settle();
  assert.equal(bench.told(4), ['turn_output b1 t1 a']);
  bench.restart();
  assert.is((await bench.bridges.list()).bridges[0]?.turnId, 't1');
});

test('two calls at once: decided one after the other', async () => {
  const bench = new BridgeBench();
  await bench.bridges.record(one);
  await Promise.all(
    ['t1', 't2', 't3'].map((turnId) =>
      bench.bridges.report({ bridgeId: 'b1', reports: [{ type: 'turn_start', turnId }] }),
    ),
  );
  assert.equal(bench.told(3), [
    'turn_started b1 t1',
    'turn_interrupted b1 t1 replaced',
    'turn_started b1 t2',
    'turn_interrupted b1 t2 replaced',
    'turn_started b1 t3',
  ]);
});

test.run();
