import type { ReportedEvent } from '@turnlog/events';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evolve } from './evolve.ts';
import type { Fact } from './facts.ts';
import { advance, canHappen, restoreBridge } from './machine.ts';
import { type BridgeState, phaseOf } from './state.ts';
import { givenBridge, type RecordedBridge, report } from './testing.ts';

const turnIds = fc.constantFrom('t1', 't2', 't3', 't4');
const texts = fc.string({ maxLength: 5 });

const reports: fc.Arbitrary<ReportedEvent> = fc.oneof(
  fc.record({ type: fc.constant('prompt' as const), text: texts }),
  fc.record({ type: fc.constant('prompt' as const), text: texts, turnId: turnIds }),
  fc.record({ type: fc.constant('turn_start' as const), turnId: turnIds }),
  fc.record({ type: fc.constant('text_delta' as const), turnId: turnIds, delta: texts }),
  fc.record({ type: fc.constant('thinking_delta' as const), turnId: turnIds, delta: texts }),
  fc.record({ type: fc.constant('turn_end' as const), turnId: turnIds }),
  fc.record({ type: fc.constant('turn_end' as const), turnId: turnIds, text: texts }),
  fc.record({ type: fc.constant('error' as const), code: fc.constant('x'), message: texts, turnId: turnIds }),
  fc.record({
    type: fc.constant('compaction_event' as const),
    status: fc.constantFrom('started' as const, 'completed' as const, 'failed' as const, 'detected' as const),
  }),
  fc.record({
    type: fc.constant('tool_start' as const),
    turnId: turnIds,
    toolCallId: fc.constant('c1'),
    toolName: fc.constant('ls'),
  }),
  fc.record({
    type: fc.constant('follow_up_queued' as const),
    promptId: fc.constantFrom('q1', 'q2'),
    text: texts,
  }),
  fc.record({
    type: fc.constant('user_request' as const),
    requestId: fc.constantFrom('r1', 'r2'),
    kind: texts,
    title: texts,
  }),
);

const calls = fc.array(fc.array(reports, { maxLength: 6 }), { maxLength: 12 });

function play(history: ReportedEvent[][]): RecordedBridge {
  const bridge = givenBridge();
  for (const call of history) report(bridge, ...call);
  return bridge;
}

function fold(log: readonly Fact[]): BridgeState {
  const state = log.reduce<BridgeState | undefined>(evolve, undefined);
  if (state === undefined) throw new Error('a log begins with bridge_requested');
  return state;
}

test('machine: stands where its state says, whatever is reported', () => {
  fc.assert(
    fc.property(calls, (history) => {
      const { snapshot } = play(history);
      assert.ok(snapshot.matches({ open: phaseOf(snapshot.context) } as never));
    }),
  );
});

test('machine: restored from the log it is the machine that was', () => {
  fc.assert(
    fc.property(calls, (history) => {
      const bridge = play(history);
      const folded = fold(bridge.log);
      assert.equal(folded, bridge.snapshot.context);
      assert.equal(restoreBridge(folded).value, bridge.snapshot.value);
    }),
  );
});

test('turns: every one that starts comes to one end at most before it is over, and one is open at a time', () => {
  fc.assert(
    fc.property(calls, (history) => {
      let open: string | undefined;
      for (const fact of play(history).log) {
        if (fact.type === 'turn_started') {
          assert.is(open, undefined, 'no turn begins while another is open');
          open = fact.data.turnId;
        }
        if ((fact.type === 'turn_ended' || fact.type === 'turn_interrupted') && fact.data.turnId === open) {
          open = undefined;
        }
      }
    }),
  );
});

test('text: what is reported of a turn is in the log when it ends, once and in order', () => {
  const deltas = fc.array(
    fc.tuple(fc.constantFrom('text' as const, 'thinking' as const, 'tool' as const), texts),
  );
  fc.assert(
    fc.property(deltas, fc.boolean(), (parts, atOnce) => {
      const said = parts.filter(([channel]) => channel === 'text').map(([, text]) => text);
      const events: ReportedEvent[] = [
        { type: 'turn_start', turnId: 't1' },
        ...parts.map(([channel, text]): ReportedEvent => {
          if (channel === 'tool')
            return { type: 'tool_start', turnId: 't1', toolCallId: 'c', toolName: 'ls' };
          return { type: `${channel}_delta`, turnId: 't1', delta: text };
        }),
        { type: 'turn_end', turnId: 't1' },
      ];
      const { log, snapshot } = play(atOnce ? [events] : events.map((event) => [event]));
      const logged = log.flatMap((fact) =>
        fact.type === 'turn_output' || fact.type === 'turn_ended' ? [fact.data.text ?? ''] : [],
      );
      assert.is(logged.join(''), said.join(''));
      assert.is(snapshot.context.through, events.length);
    }),
  );
});

test('machine: a turn cannot begin during another, nor after the end of the bridge', () => {
  const bridge = givenBridge();
  const start: Fact<'turn_started'> = {
    type: 'turn_started',
    data: { bridgeId: 'b1', provider: 'codex', turnId: 't9', purpose: 'prompt', injected: 'none' },
  };
  assert.ok(canHappen(bridge.snapshot, start));
  report(bridge, { type: 'turn_start', turnId: 't1' });
  assert.not.ok(canHappen(bridge.snapshot, start));
  assert.throws(() => advance(bridge.snapshot, start), /turn_started may happen/);
  report(bridge, { type: 'closed', code: 0 });
  assert.not.ok(canHappen(bridge.snapshot, start));
});

test('bridge id: used again it begins anew and still knows its former turns', () => {
  const bridge = givenBridge();
  report(bridge, { type: 'turn_start', turnId: 't1' });
  report(bridge, { type: 'closed', code: 0 });
  const [requested] = bridge.log;
  assert.ok(requested !== undefined);
  const again = evolve(bridge.snapshot.context, requested);
  assert.is(again.through, 0);
  assert.is(again.lifecycle, 'starting');
  assert.equal(again.recentTurnIds, ['t1']);
});

test.run();
