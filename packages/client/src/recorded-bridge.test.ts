import { setTimeout as delay } from 'node:timers/promises';
import type { LiveEvent, ReportedEvent } from '@turnlog/events';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type BridgeCalls, RecordedBridge, type RecordOptions } from './recorded-bridge.ts';
import { codeOfRejection } from './testing/code-of.ts';
import { FakeDaemon, type Fate } from './testing/fake-daemon.ts';

const OPENED = { ownerToken: 'token', accepted: 0, durableThrough: 0, attached: false };
const QUICKLY = { firstDelayMs: 1, delayMsMax: 2, durablePollMs: 2 };

function bridgeTo(daemon: FakeDaemon, more: Partial<RecordOptions> = {}): RecordedBridge {
  const options: RecordOptions = {
    bridgeId: 'b1',
    provider: 'codex',
    timing: { ...QUICKLY, ...more.timing },
    ...more,
  };
  return new RecordedBridge(options, OPENED, daemon);
}

function delta(number: number): ReportedEvent {
  return { type: 'text_delta', turnId: 't1', delta: String(number) };
}

test('report: what comes while a frame is under way shares the next one', async () => {
  const daemon = new FakeDaemon();
  const bridge = bridgeTo(daemon);
  for (let number = 0; number < 10; number += 1)
    void bridge.report({ type: 'turn_start', turnId: `t${number}` });
  await bridge.durable();
  assert.equal(daemon.frames, [10]);
  assert.is(daemon.log.length, 10);
  assert.is(bridge.pending, 0);
  await bridge.close();
  assert.ok(daemon.isStopped);
});

test('report: an event of another shape is refused and takes no number', async () => {
  const daemon = new FakeDaemon();
  const bridge = bridgeTo(daemon);
  const wrong = { type: 'turn_start', turn: 't1' } as unknown as ReportedEvent;
  assert.is(await codeOfRejection(bridge.report(wrong)), 'invalid_argument');
  await bridge
    .report({ type: 'turn_start', turnId: 't1', extra: undefined } as ReportedEvent)
    .catch(() => {});
  await bridge.prompt('hello');
  await bridge.durable();
  assert.equal(JSON.parse(daemon.log.at(-1) ?? ''), { type: 'prompt', text: 'hello' });
  await bridge.close();
});

test('report: an event is as it was when it was reported', async () => {
  const daemon = new FakeDaemon();
  const bridge = bridgeTo(daemon);
  const event = { type: 'prompt' as const, text: 'before' };
  void bridge.report(event);
  event.text = 'after';
  await bridge.durable();
  assert.match(daemon.log[0] ?? '', 'before');
  await bridge.close();
});

test('report: waits where much is pending, and refuses where twice as much is', async () => {
  let fate: Fate = 'lost';
  const daemon = new FakeDaemon(() => fate);
  const bridge = bridgeTo(daemon, { queueEventsMax: 3 });
  await bridge.report(delta(1));
  await bridge.report(delta(2));
  let waited = 0;
  const waits = [3, 4, 5, 6].map((number) =>
    bridge.report(delta(number)).then(() => {
      waited += 1;
    }),
  );
  assert.is(await codeOfRejection(bridge.report(delta(7))), 'too_large');
  await delay(20);
  assert.is(waited, 0);
  assert.is(bridge.trouble?.code, 'unreachable');
  assert.is(await codeOfRejection(bridge.durable({ timeoutMs: 10 })), 'timed_out');
  await Promise.race([Promise.all(waits), delay(5)]);
  assert.is(bridge.pending, 6);
  // It is tried further, and keeps the process as long: so the daemon comes back.
  fate = 'answered';
  await bridge.close();
});

test('report: a host that waits for room gets it when the deltas are on disk', async () => {
  const daemon = new FakeDaemon();
  const bridge = bridgeTo(daemon, { queueEventsMax: 2 });
  for (let number = 1; number <= 6; number += 1) await bridge.report(delta(number));
  assert.ok(daemon.log.length >= 5);
  await bridge.close();
});

test('emitted: told in order', async () => {
  const told: LiveEvent[] = [];
  const bridge = bridgeTo(new FakeDaemon(), { onEmitted: (events) => told.push(...events) });
  void bridge.report(delta(1));
  void bridge.report({ type: 'turn_end', turnId: 't1' });
  await bridge.close();
  assert.equal(
    told.map(({ type }) => type),
    ['text_delta', 'turn_end'],
  );
});

test('presence: while a turn is open its host says that it is there', async () => {
  const daemon = new FakeDaemon();
  let asked = 0;
  const calls: BridgeCalls = {
    event: (parameters) => {
      if (parameters.includes('"events":[]')) asked += 1;
      return daemon.event(parameters);
    },
    stop: () => daemon.stop(),
  };
  const timing = { ...QUICKLY, presenceIntervalMs: 5 };
  const bridge = new RecordedBridge({ bridgeId: 'b1', provider: 'codex', timing }, OPENED, calls);
  await bridge.report({ type: 'turn_start', turnId: 't1' });
  await delay(60);
  assert.ok(asked >= 2);
  await bridge.report({ type: 'turn_end', turnId: 't1' });
  await bridge.durable();
  const before = asked;
  await delay(30);
  assert.is(asked, before);
  await bridge.close();
});

test('end: a bridge that its host reports as closed takes nothing more and is not stopped again', async () => {
  const daemon = new FakeDaemon();
  const bridge = bridgeTo(daemon);
  void bridge.report(delta(1));
  void bridge.report({ type: 'closed', code: 0 });
  assert.is(await codeOfRejection(bridge.report(delta(2))), 'bridge_not_found');
  await bridge.close();
  assert.is(daemon.log.length, 2);
});

test('end: an answer to the last event that was lost is no doubt', async () => {
  const fates: Fate[] = ['answered', 'unanswered'];
  const daemon = new FakeDaemon(() => fates.shift() ?? 'answered');
  const bridge = bridgeTo(daemon);
  void bridge.report({ type: 'turn_start', turnId: 't1' });
  void bridge.report({ type: 'closed', code: 0 });
  await bridge.durable();
  assert.is(daemon.log.length, 2);
  assert.is(bridge.pending, 0);
});

test('end: a bridge that somebody else stopped is told to its host', async () => {
  const daemon = new FakeDaemon();
  const bridge = bridgeTo(daemon);
  await bridge.report(delta(1));
  await bridge.durable();
  daemon.isStopped = true;
  const waiting = bridge.report(delta(2));
  assert.is(await codeOfRejection(bridge.durable()), 'bridge_not_found');
  await waiting;
  assert.is(await codeOfRejection(bridge.report(delta(3))), 'bridge_not_found');
  assert.is(await codeOfRejection(bridge.close()), 'bridge_not_found');
});

test('exactly once: whatever is lost or killed, every event is in the log once and in order', async () => {
  const fate = fc.constantFrom<Fate>('answered', 'answered', 'lost', 'unanswered', 'killed', 'killed after');
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant<'delta' | 'turn' | 'wait'>('delta') },
    { weight: 3, arbitrary: fc.constant<'delta' | 'turn' | 'wait'>('turn') },
    { weight: 1, arbitrary: fc.constant<'delta' | 'turn' | 'wait'>('wait') },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fate, { maxLength: 30 }),
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      async (fates, steps, isReportedClosed) => {
        const daemon = new FakeDaemon(() => fates.shift() ?? 'answered');
        const bridge = bridgeTo(daemon);
        const reported: ReportedEvent[] = [];
        const report = (event: ReportedEvent) => {
          reported.push(event);
          void bridge.report(event);
        };
        for (const [number, kind] of steps.entries()) {
          if (kind === 'delta') report(delta(number));
          if (kind === 'turn') report({ type: 'turn_end', turnId: `t${number}` });
          if (kind === 'wait') await bridge.durable();
        }
        if (isReportedClosed) report({ type: 'closed', code: 0 });
        await bridge.close();
        assert.equal(
          daemon.log.map((text) => JSON.parse(text) as unknown),
          reported,
        );
        assert.ok(daemon.isStopped);
        assert.is(bridge.pending, 0);
      },
    ),
    { numRuns: 150 },
  );
});

test.run();
