import { initialMeter } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { GATHER_BYTES_MAX } from './gathering.ts';
import { phaseOf } from './state.ts';
import { givenBridge, report, told } from './testing.ts';

const started = (turnId: string, prompt?: string) => ({
  type: 'turn_started',
  turnId,
  ...(prompt !== undefined && { prompt }),
  purpose: 'prompt',
  injected: 'none',
});

test('prompt: becomes part of the turn that begins in the same call', () => {
  const bridge = givenBridge();
  const { facts } = report(bridge, { type: 'prompt', text: 'hello' }, { type: 'turn_start', turnId: 't1' });
  assert.equal(told(facts), [started('t1', 'hello')]);
  assert.is(phaseOf(bridge.snapshot.context), 'turn');
});

test('prompt: one that names its turn is found before and after its start', () => {
  const bridge = givenBridge();
  const { facts } = report(
    bridge,
    { type: 'turn_start', turnId: 't1' },
    { type: 'prompt', turnId: 't1', text: 'after' },
  );
  assert.equal(told(facts), [started('t1', 'after')]);
});

test('prompt: without a turn in the call it is queued, and the next turn takes it', () => {
  const bridge = givenBridge();
  assert.equal(told(report(bridge, { type: 'prompt', text: 'later' }).facts), [
    { type: 'prompt_queued', promptId: 'p1', text: 'later', place: 0 },
  ]);
  assert.equal(told(report(bridge, { type: 'turn_start', turnId: 't1' }).facts), [
    { ...started('t1', 'later'), promptId: 'p1' },
  ]);
  assert.equal(bridge.snapshot.context.waitingPrompts, []);
});

test('prompt: several go to the turns in their order', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'prompt', text: 'one' }, { type: 'prompt', text: 'two' });
  report(bridge, { type: 'turn_start', turnId: 't1' }, { type: 'turn_end', turnId: 't1' });
  report(bridge, { type: 'turn_start', turnId: 't2' });
  const prompts = bridge.log.flatMap((fact) => (fact.type === 'turn_started' ? [fact.data.prompt] : []));
  assert.equal(prompts, ['one', 'two']);
});

test('deltas: gathered in memory, and written with the end of the turn', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' });
  assert.equal(report(bridge, { type: 'text_delta', turnId: 't1', delta: 'a' }).facts, []);
  assert.is(bridge.snapshot.context.through, 1, 'the delta is not durable yet');
  const { facts } = report(
    bridge,
    { type: 'text_delta', turnId: 't1', delta: 'b' },
    { type: 'turn_end', turnId: 't1' },
  );
  assert.equal(told(facts), [{ type: 'turn_ended', turnId: 't1', text: 'ab' }]);
  assert.is(bridge.snapshot.context.through, 4);
});

test('deltas: text and thinking keep their order', () => {
  const bridge = givenBridge();
  const { facts } = report(
    bridge,
    { type: 'turn_start', turnId: 't1' },
    { type: 'thinking_delta', turnId: 't1', delta: 'hm' },
    { type: 'text_delta', turnId: 't1', delta: 'a' },
    { type: 'thinking_delta', turnId: 't1', delta: 'so' },
    { type: 'turn_end', turnId: 't1' },
  );
  assert.equal(told(facts).slice(1), [
    { type: 'turn_output', turnId: 't1', thinking: 'hm' },
    { type: 'turn_output', turnId: 't1', text: 'a' },
    { type: 'turn_output', turnId: 't1', thinking: 'so' },
    { type: 'turn_ended', turnId: 't1' },
  ]);
});

test('deltas: written as soon as enough is gathered, and before anything that is not a delta', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' });
  const long = 'x'.repeat(GATHER_BYTES_MAX);
  assert.equal(told(report(bridge, { type: 'text_delta', turnId: 't1', delta: long }).facts), [
    { type: 'turn_output', turnId: 't1', text: long },
  ]);
  report(bridge, { type: 'text_delta', turnId: 't1', delta: 'y' });
  const { facts } = report(bridge, {
    type: 'tool_start',
    turnId: 't1',
    toolCallId: 'c1',
    toolName: 'ls',
    args: {},
  });
  assert.equal(
    facts.map((fact) => fact.type),
    ['turn_output', 'tool_started'],
  );
});

test('end of a turn: a text that goes on from what is logged adds only the rest', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' }, { type: 'text_delta', turnId: 't1', delta: 'one ' });
  report(bridge, { type: 'tool_start', turnId: 't1', toolCallId: 'c1', toolName: 'ls' });
  const { facts } = report(bridge, { type: 'turn_end', turnId: 't1', text: 'one two' });
  assert.equal(told(facts), [{ type: 'turn_ended', turnId: 't1', text: 'two' }]);
});

test('end of a turn: a text that says something else replaces what is logged', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' }, { type: 'text_delta', turnId: 't1', delta: 'draft' });
  report(bridge, { type: 'tool_start', turnId: 't1', toolCallId: 'c1', toolName: 'ls' });
  const { facts } = report(bridge, { type: 'turn_end', turnId: 't1', text: 'final' });
  assert.equal(told(facts), [{ type: 'turn_ended', turnId: 't1', text: 'final', whole: true }]);
});

test('end of a turn: of a turn whose logged text is not known any more the whole is written', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' });
  bridge.gathering = undefined;
  const { facts } = report(bridge, { type: 'turn_end', turnId: 't1', text: 'all of it' });
  assert.equal(told(facts), [{ type: 'turn_ended', turnId: 't1', text: 'all of it', whole: true }]);
});

test('turn: one that nobody started begins with its first report', () => {
  const bridge = givenBridge();
  const { facts } = report(bridge, { type: 'turn_end', turnId: 't1', text: 'done' });
  assert.equal(told(facts), [started('t1'), { type: 'turn_ended', turnId: 't1', text: 'done', whole: true }]);
});

test('turn: one that begins while another is open interrupts it, with what was gathered', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' }, { type: 'text_delta', turnId: 't1', delta: 'half' });
  const { facts } = report(bridge, { type: 'turn_start', turnId: 't2' });
  assert.equal(told(facts), [
    { type: 'turn_interrupted', turnId: 't1', reason: 'replaced', text: 'half' },
    started('t2'),
  ]);
});

test('turn: a start that is sent twice starts nothing', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' });
  assert.equal(report(bridge, { type: 'turn_start', turnId: 't1' }).facts, []);
});

test('late: reports of an interrupted turn are logged and leave the open turn alone', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' }, { type: 'turn_start', turnId: 't2' });
  report(bridge, { type: 'text_delta', turnId: 't2', delta: 'mine' });
  const { facts } = report(
    bridge,
    { type: 'text_delta', turnId: 't1', delta: 'late' },
    { type: 'turn_end', turnId: 't1', text: 'late end' },
  );
  assert.equal(told(facts), [
    { type: 'turn_output', turnId: 't2', text: 'mine' },
    { type: 'turn_output', turnId: 't1', text: 'late' },
    { type: 'turn_ended', turnId: 't1', text: 'late end', whole: true },
  ]);
  assert.is(bridge.snapshot.context.turn?.turnId, 't2');
  assert.equal(told(report(bridge, { type: 'turn_end', turnId: 't2', text: 'mine too' }).facts), [
    { type: 'turn_ended', turnId: 't2', text: ' too' },
  ]);
});

test('error: one that names the open turn interrupts it, any other is only shown', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' });
  assert.equal(report(bridge, { type: 'error', code: 'x', message: 'm' }).facts, []);
  assert.equal(report(bridge, { type: 'error', code: 'x', message: 'm', turnId: 'other' }).facts, []);
  assert.equal(told(report(bridge, { type: 'error', code: 'x', message: 'm', turnId: 't1' }).facts), [
    { type: 'turn_interrupted', turnId: 't1', reason: 'provider_error', message: 'm' },
  ]);
});

test('closed: takes along the open turn, its questions and the prompts that wait', () => {
  const bridge = givenBridge();
  report(
    bridge,
    { type: 'turn_start', turnId: 't1' },
    { type: 'text_delta', turnId: 't1', delta: 'half' },
    { type: 'user_request', requestId: 'r1', kind: 'permission', title: 'May I?' },
    { type: 'follow_up_queued', promptId: 'q1', text: 'next' },
  );
  const { facts, emitted } = report(bridge, { type: 'closed', code: 1 });
  assert.equal(told(facts), [
    { type: 'turn_interrupted', turnId: 't1', reason: 'exited' },
    { type: 'request_answered', requestId: 'r1', action: 'cancelled', by: 'bridge_stopped' },
    { type: 'prompt_dropped', promptId: 'q1', reason: 'bridge_stopped' },
    { type: 'bridge_stopped', reason: 'exited', exitCode: 1 },
  ]);
  assert.equal(emitted, [{ event: { type: 'closed', code: 1, bridgeId: 'b1' }, fact: 3 }]);
  assert.is(phaseOf(bridge.snapshot.context), 'stopped');
});

test('usage: hosts are told the figure of the meter, the log keeps the one reported', () => {
  const bridge = givenBridge({ meter: initialMeter({ contextTokens: 42_000, contextWindow: 200_000 }) });
  const { facts, emitted } = report(
    bridge,
    { type: 'turn_start', turnId: 't1' },
    { type: 'turn_end', turnId: 't1', usage: { contextTokens: 900, outputTokens: 100 } },
  );
  assert.equal(told(facts)[1], {
    type: 'turn_ended',
    turnId: 't1',
    usage: { contextTokens: 900, outputTokens: 100 },
  });
  const told_ = emitted[1]?.event as { usage?: { contextTokens?: number } };
  assert.is(told_.usage?.contextTokens, 42_100);
});

test('usage: a compaction that only the figures show is one card', () => {
  const bridge = givenBridge({ meter: initialMeter({ contextTokens: 95_000, contextWindow: 100_000 }) });
  const { facts, emitted } = report(
    bridge,
    { type: 'turn_start', turnId: 't1' },
    { type: 'usage_update', turnId: 't1', usage: { contextTokens: 20_000, contextWindow: 100_000 } },
    { type: 'turn_end', turnId: 't1', usage: { contextTokens: 20_000, contextWindow: 100_000 } },
  );
  assert.is(facts.filter((fact) => fact.type === 'compaction_detected').length, 1);
  assert.is(emitted.filter(({ event }) => event.type === 'compaction_event').length, 1);
});

test('compaction: what the host reports becomes the facts of it', () => {
  const bridge = givenBridge();
  const { facts } = report(
    bridge,
    { type: 'compaction_event', status: 'started' },
    { type: 'compaction_event', status: 'completed', strategy: 'native', summary: 'S', resetContext: true },
  );
  assert.equal(told(facts), [
    { type: 'compaction_started', automatic: false, source: 'native' },
    {
      type: 'compaction_completed',
      automatic: false,
      source: 'native',
      strategy: 'native',
      summary: 'S',
      resetContext: true,
    },
  ]);
});

test('shown only: what changes nothing is told to hosts and not logged', () => {
  const bridge = givenBridge();
  const { facts, emitted } = report(
    bridge,
    { type: 'ready' },
    { type: 'status', message: 'starting' },
    { type: 'tool_update', turnId: 't1', toolCallId: 'c1', partial: 1 },
  );
  assert.equal(facts, []);
  assert.is(emitted.length, 3);
});

test.run();
