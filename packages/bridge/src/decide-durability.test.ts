/* What is in the log with which report, so that a host knows what to send again after a crash. */
import type { ReportedEvent } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decideFlush } from './decide-flush.ts';
import type { Fact } from './facts.ts';
import { GATHER_BYTES_MAX } from './gathering.ts';
import { givenBridge, report, told } from './testing.ts';

function throughOf(facts: readonly Fact[]): [type: string, through: number | undefined][] {
  return facts.map(({ type, meta }) => [type, meta?.through]);
}

test('through: a turn that begins with a delta holds nothing of the delta, which is only gathered', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'status', message: 'm' });
  const { facts } = report(bridge, { type: 'text_delta', turnId: 't1', delta: 'a' });
  assert.equal(throughOf(facts), [['turn_started', 1]]);
  assert.is(bridge.snapshot.context.through, 1);
});

test('through: a turn that begins with a tool holds the tool', () => {
  const bridge = givenBridge();
  const { facts } = report(bridge, { type: 'tool_start', turnId: 't1', toolCallId: 'c', toolName: 'ls' });
  assert.equal(throughOf(facts), [
    ['turn_started', 0],
    ['tool_started', 1],
  ]);
});

test('through: a prompt that is part of a turn which began before it is held with the turn', () => {
  const bridge = givenBridge();
  const { facts } = report(
    bridge,
    { type: 'turn_start', turnId: 't1' },
    { type: 'text_delta', turnId: 't1', delta: 'a' },
    { type: 'prompt', text: 'asked', turnId: 't1' },
    { type: 'text_delta', turnId: 't1', delta: 'b' },
  );
  assert.equal(throughOf(facts), [
    ['turn_started', 1],
    ['turn_output', 3],
  ]);
  assert.is(bridge.snapshot.context.through, 3);
  assert.is(bridge.gathering?.pending, 'b');
});

test('through: what another bridge is told to end stands just before the turn that ends it, once', () => {
  const bridge = givenBridge();
  const end: Fact<'turn_interrupted'> = {
    type: 'turn_interrupted',
    data: { bridgeId: 'b2', provider: 'claude', turnId: 't1', reason: 'replaced' },
  };
  bridge.endsOfOthers = [end];
  const { facts, startsTurn } = report(
    bridge,
    { type: 'compaction_event', status: 'completed', summary: 'S' },
    { type: 'turn_start', turnId: 't1' },
    { type: 'turn_start', turnId: 't2' },
  );
  assert.ok(startsTurn);
  assert.equal(
    facts.map(({ type, data }) => `${type} ${data.bridgeId}`),
    [
      'compaction_completed b1',
      'turn_interrupted b2',
      'turn_started b1',
      'turn_interrupted b1',
      'turn_started b1',
    ],
  );
  assert.is(bridge.snapshot.context.turn?.turnId, 't2');
});

test('gathering: its limit is one of bytes, whatever the text is written in', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' });
  const wide = '語'.repeat(Math.ceil(GATHER_BYTES_MAX / 3));
  const short = report(bridge, { type: 'text_delta', turnId: 't1', delta: wide.slice(1) });
  assert.equal(short.facts, []);
  const full = report(bridge, { type: 'text_delta', turnId: 't1', delta: '語' });
  assert.equal(told(full.facts), [{ type: 'turn_output', turnId: 't1', text: wide }]);
});

test('gathering: a turn that is reported whole needs none', () => {
  const bridge = givenBridge();
  const { facts } = report(
    bridge,
    { type: 'prompt', text: 'q' },
    { type: 'turn_start', turnId: 't1' },
    { type: 'turn_end', turnId: 't1', text: 'a' },
  );
  assert.equal(throughOf(facts), [
    ['turn_started', 2],
    ['turn_ended', 3],
  ]);
});

test('flush: what is gathered is written, and covers what was only shown since', () => {
  const bridge = givenBridge();
  report(
    bridge,
    { type: 'turn_start', turnId: 't1' },
    { type: 'text_delta', turnId: 't1', delta: 'a' },
    { type: 'status', message: 'm' },
  );
  const { facts, snapshot, gathering } = decideFlush(bridge.snapshot, bridge.gathering, bridge.accepted);
  assert.equal(throughOf(facts), [['turn_output', 3]]);
  assert.is(snapshot.context.through, 3);
  assert.is(gathering?.pending, '');
  assert.is(gathering?.logged, 'a');
});

test('flush: of reports that no event holds the log keeps that they were accepted', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'ready' }, { type: 'text_delta', turnId: 't1', delta: '' });
  const flushed = decideFlush(bridge.snapshot, bridge.gathering, bridge.accepted);
  assert.equal(throughOf(flushed.facts), [['reports_accepted', 2]]);
  assert.equal(decideFlush(flushed.snapshot, flushed.gathering, bridge.accepted).facts, []);
});

test('prompt: which turn takes which does not depend on how the reports share calls', () => {
  const reports: ReportedEvent[] = [
    { type: 'prompt', text: 'first' },
    { type: 'follow_up_queued', promptId: 'q1', text: 'second' },
    { type: 'turn_start', turnId: 't1' },
    { type: 'turn_end', turnId: 't1' },
    { type: 'prompt', text: 'third', turnId: 't2' },
    { type: 'turn_start', turnId: 't2' },
    { type: 'turn_end', turnId: 't2' },
    { type: 'turn_start', turnId: 't3' },
  ];
  for (let cut = 0; cut <= reports.length; cut += 1) {
    const bridge = givenBridge();
    report(bridge, ...reports.slice(0, cut));
    report(bridge, ...reports.slice(cut));
    const prompts = bridge.log.flatMap((fact) => (fact.type === 'turn_started' ? [fact.data.prompt] : []));
    assert.equal(prompts, ['first', 'third', 'second'], `cut at ${cut}`);
  }
});

test('prompt: one that comes after the end of its turn waits for no other', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' }, { type: 'turn_end', turnId: 't1' });
  const { facts } = report(bridge, { type: 'prompt', text: 'late', turnId: 't1' });
  assert.equal(told(facts), [
    { type: 'prompt_queued', promptId: 'p1', text: 'late', place: 0, turnId: 't1' },
  ]);
  assert.equal(bridge.snapshot.context.waitingPrompts, []);
  const next = report(bridge, { type: 'turn_start', turnId: 't2' });
  assert.equal(told(next.facts), [
    { type: 'turn_started', turnId: 't2', purpose: 'prompt', injected: 'none' },
  ]);
});

test.run();
