/*
 * The table of what a host may report, row by row: what becomes of it in the log, and whether it takes part
 * in the life of a turn. A kind of report that is not here fails.
 */
import { JsonText, type ReportedEvent, reportedEventSchemas } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { givenBridge, report, told } from './testing.ts';

interface Row {
  report: ReportedEvent;
  /** The facts, of a bridge whose turn `t1` is open. */
  facts: object[];
}

const turn = { turnId: 't1' };
const call = { ...turn, toolCallId: 'c1' };
const interrupted = { type: 'turn_interrupted', ...turn };
const native = { automatic: false, source: 'native' };

const TABLE: readonly Row[] = [
  {
    report: { type: 'prompt', text: 'next', promptId: 'p9' },
    facts: [{ type: 'prompt_queued', promptId: 'p9', text: 'next', place: 0 }],
  },
  {
    report: { type: 'prompt', text: 'of this turn', turnId: 't1' },
    facts: [{ type: 'prompt_queued', promptId: 'p1', text: 'of this turn', place: 0, ...turn }],
  },
  { report: { type: 'ready' }, facts: [] },
  { report: { type: 'status', message: 'm', phase: 'resuming' }, facts: [] },
  {
    report: { type: 'session_id', sessionId: 'S' },
    facts: [{ type: 'session_bound', sessionId: 'S', resumed: false, ...turn }],
  },
  {
    report: { type: 'session_id', sessionId: 'S', resumed: true },
    facts: [{ type: 'session_bound', sessionId: 'S', resumed: true, ...turn }],
  },
  { report: { type: 'turn_start', turnId: 't1' }, facts: [] },
  {
    report: { type: 'turn_start', turnId: 't2' },
    facts: [
      { ...interrupted, reason: 'replaced' },
      { type: 'turn_started', turnId: 't2', purpose: 'prompt', injected: 'none' },
    ],
  },
  { report: { type: 'turn_end', turnId: 't1' }, facts: [{ type: 'turn_ended', ...turn }] },
  {
    report: { type: 'turn_end', turnId: 't1', text: 'all', stopReason: 'max_tokens', usage: { model: 'm' } },
    facts: [
      {
        type: 'turn_ended',
        ...turn,
        text: 'all',
        whole: true,
        stopReason: 'max_tokens',
        usage: { model: 'm' },
      },
    ],
  },
  { report: { type: 'text_delta', turnId: 't1', delta: 'a' }, facts: [] },
  { report: { type: 'thinking_delta', turnId: 't1', delta: 'a' }, facts: [] },
  {
    report: { type: 'tool_start', ...call, toolName: 'read', args: { path: 'a' } },
    facts: [{ type: 'tool_started', ...call, name: 'read', args: JsonText.of({ path: 'a' }) }],
  },
  {
    report: { type: 'tool_start', ...call, toolName: 'read' },
    facts: [{ type: 'tool_started', ...call, name: 'read' }],
  },
  { report: { type: 'tool_update', ...call, partial: 1, title: 't' }, facts: [] },
  {
    report: { type: 'tool_end', ...call, result: null, isError: true, args: 1, title: 't' },
    facts: [
      {
        type: 'tool_ended',
        ...call,
        title: 't',
        args: JsonText.of(1),
        result: JsonText.of(null),
        isError: true,
      },
    ],
  },
  { report: { type: 'tool_end', ...call }, facts: [{ type: 'tool_ended', ...call, isError: false }] },
  {
    report: { type: 'usage_update', usage: { inputTokens: 5, contextBreakdown: { system: 1 } } },
    facts: [
      { type: 'usage_updated', usage: { inputTokens: 5, contextBreakdown: JsonText.of({ system: 1 }) } },
    ],
  },
  {
    report: { type: 'usage_update', turnId: 't1', usage: { inputTokens: 5 } },
    facts: [{ type: 'usage_updated', ...turn, usage: { inputTokens: 5 } }],
  },
  {
    report: { type: 'follow_up_queued', promptId: 'q1', text: 'later' },
    facts: [{ type: 'prompt_queued', promptId: 'q1', text: 'later', place: 0 }],
  },
  { report: { type: 'follow_up_removed', promptId: 'q1', reason: 'sent' }, facts: [] },
  {
    report: { type: 'follow_up_removed', promptId: 'q1', reason: 'removed' },
    facts: [{ type: 'prompt_dropped', promptId: 'q1', reason: 'cancelled' }],
  },
  {
    report: { type: 'follow_up_removed', promptId: 'q1', reason: 'cleared' },
    facts: [{ type: 'prompt_dropped', promptId: 'q1', reason: 'aborted' }],
  },
  {
    report: { type: 'user_request', requestId: 'r1', ...turn, kind: 'choice', title: 'T', options: ['a'] },
    facts: [
      {
        type: 'request_opened',
        requestId: 'r1',
        ...turn,
        kind: 'choice',
        title: 'T',
        options: JsonText.of(['a']),
      },
    ],
  },
  {
    report: { type: 'user_request_resolved', requestId: 'r1', action: 'allow' },
    facts: [{ type: 'request_answered', requestId: 'r1', action: 'allow', by: 'host' }],
  },
  {
    report: { type: 'compaction_event', status: 'started', automatic: true },
    facts: [{ type: 'compaction_started', automatic: true, source: 'native' }],
  },
  {
    report: {
      type: 'compaction_event',
      status: 'completed',
      ...turn,
      strategy: 'summary-reset',
      beforeTokens: 9,
      afterTokens: 1,
      percent: 11,
      resetContext: true,
      summary: 'S',
      keptFromTurnId: 't0',
      message: 'm',
      provider: 'codex',
    },
    facts: [
      {
        type: 'compaction_completed',
        ...turn,
        strategy: 'summary-reset',
        beforeTokens: 9,
        afterTokens: 1,
        percent: 11,
        resetContext: true,
        summary: 'S',
        keptFromTurnId: 't0',
        message: 'm',
        ...native,
      },
    ],
  },
  {
    report: { type: 'compaction_event', status: 'failed', message: 'm', summary: 'of nothing' },
    facts: [{ type: 'compaction_failed', message: 'm', ...native }],
  },
  {
    report: { type: 'compaction_event', status: 'detected', beforeTokens: 9, afterTokens: 1 },
    facts: [{ type: 'compaction_detected', beforeTokens: 9, afterTokens: 1, ...native }],
  },
  { report: { type: 'handoff_summary', summary: 'S', reason: 'handoff' }, facts: [] },
  { report: { type: 'error', code: 'x', message: 'm' }, facts: [] },
  { report: { type: 'error', code: 'x', message: 'm', turnId: 'another' }, facts: [] },
  {
    report: { type: 'error', code: 'x', message: 'm', turnId: 't1' },
    facts: [{ ...interrupted, reason: 'provider_error', message: 'm' }],
  },
  {
    report: { type: 'error', code: 'turn_interrupted', message: 'm' },
    facts: [{ ...interrupted, reason: 'provider_error', message: 'm' }],
  },
  {
    report: { type: 'closed', code: null },
    facts: [
      { ...interrupted, reason: 'exited' },
      { type: 'bridge_stopped', reason: 'exited', exitCode: null },
    ],
  },
  {
    report: { type: 'idle_stopped' },
    facts: [
      { ...interrupted, reason: 'bridge_stopped' },
      { type: 'bridge_stopped', reason: 'idle' },
    ],
  },
];

test('live events: every kind of report is in the table', () => {
  assert.equal(
    [...new Set(TABLE.map(({ report: { type } }) => type as string))].sort(),
    [...reportedEventSchemas.keys()].sort(),
  );
});

for (const { report: reported, facts } of TABLE) {
  test(`live events: ${JSON.stringify(reported)}`, () => {
    const bridge = givenBridge();
    report(bridge, { type: 'turn_start', turnId: 't1' });
    const outcome = report(bridge, reported);
    assert.equal(told(outcome.facts), facts);
    const shown = outcome.emitted.map(({ event }) => event);
    const { bridgeId: _, ...own } = reported as { bridgeId?: string };
    assert.equal(shown, reported.type === 'prompt' ? [] : [{ ...own, bridgeId: 'b1' }], 'hosts are told it');
    const numbers = outcome.facts.map(({ meta }) => meta?.through);
    assert.ok(
      numbers.every((number) => number === 2),
      'the facts hold the report',
    );
  });
}

test('live events: a report of a turn that nobody started starts it, where it is part of one', () => {
  const starting = ['text_delta', 'thinking_delta', 'tool_start', 'tool_end', 'turn_end', 'turn_start'];
  for (const row of TABLE) {
    const outcome = report(givenBridge(), row.report);
    const starts = outcome.facts.some(({ type }) => type === 'turn_started');
    assert.is(starts, starting.includes(row.report.type), JSON.stringify(row.report));
    assert.is(outcome.startsTurn, starts);
  }
});

test('live events: a question that is answered is open no more', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'user_request', requestId: 'r1', kind: 'text', title: 'T' });
  assert.equal(bridge.snapshot.context.openRequestIds, ['r1']);
  report(bridge, { type: 'user_request_resolved', requestId: 'r1', action: 'allow', by: 'user' });
  assert.equal(bridge.snapshot.context.openRequestIds, []);
});

test.run();
