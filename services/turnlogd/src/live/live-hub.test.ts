import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveEvent } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Daemon, openDaemon } from '../daemon.ts';

const KEY = 'thread:s';

async function withDaemon(task: (daemon: Daemon) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-live-'));
  const daemon = await openDaemon({ dataDirectory: join(directory, 'data') });
  try {
    await daemon.dispatcher.call('bridge.record', {
      bridgeId: 'b1',
      provider: 'codex',
      conversationKey: KEY,
    });
    await task(daemon);
  } finally {
    await daemon.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function report(daemon: Daemon, ...events: object[]): Promise<void> {
  await daemon.dispatcher.call('bridge.event', { bridgeId: 'b1', events });
}

/** Follows until so many events came. */
function watch(daemon: Daemon, count: number, parameters: object = {}): Promise<LiveEvent[]> {
  const stopped = new AbortController();
  const seen: LiveEvent[] = [];
  const events = daemon.subscribe('live.subscribe', parameters, stopped.signal);
  return (async () => {
    for await (const event of events) {
      seen.push(event);
      if (seen.length === count) stopped.abort();
    }
    return seen;
  })();
}

const told = (events: readonly LiveEvent[]) =>
  events.map((event) => ('delta' in event ? `${event.type} ${event.delta}` : event.type));

/** The text that a host has put together by the end of the turn. */
function textOf(events: readonly LiveEvent[]): string {
  let text = '';
  for (const event of events) {
    if (event.type === 'text_delta') text += event.delta;
    if (event.type === 'turn_end' && event.text !== undefined) text = event.text;
  }
  return text;
}

test('live: deltas as they come, everything in the order of the reports', async () => {
  await withDaemon(async (daemon) => {
    const watching = watch(daemon, 7);
    await report(
      daemon,
      { type: 'turn_start', turnId: 't1' },
      { type: 'text_delta', turnId: 't1', delta: 'a' },
    );
    await report(
      daemon,
      { type: 'text_delta', turnId: 't1', delta: 'b' },
      { type: 'tool_start', turnId: 't1', toolCallId: 'c', toolName: 'ls', args: { path: '.' } },
      { type: 'tool_update', turnId: 't1', toolCallId: 'c', partial: 1 },
      { type: 'tool_end', turnId: 't1', toolCallId: 'c', result: ['x'] },
      { type: 'turn_end', turnId: 't1' },
    );
    const events = await watching;
    assert.equal(told(events), [
      'turn_start',
      'text_delta a',
      'text_delta b',
      'tool_start',
      'tool_update',
      'tool_end',
      'turn_end',
    ]);
    const seqs = events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    assert.equal(
      seqs,
      [...seqs].sort((a, b) => a - b),
    );
  });
});

test('history: from a seq on the same, the text as the log holds it', async () => {
  await withDaemon(async (daemon) => {
    await report(
      daemon,
      { type: 'turn_start', turnId: 't1' },
      { type: 'text_delta', turnId: 't1', delta: 'one ' },
    );
    await report(daemon, { type: 'tool_start', turnId: 't1', toolCallId: 'c', toolName: 'ls' });
    await report(daemon, { type: 'turn_end', turnId: 't1', text: 'one two' });
    const events = await watch(daemon, 5, { from: 1 });
    assert.equal(told(events), ['turn_start', 'text_delta one ', 'tool_start', 'text_delta two', 'turn_end']);
    assert.is(textOf(events), 'one two');
  });
});

test('live: the end of a text that no delta told is told before the end of the turn', async () => {
  await withDaemon(async (daemon) => {
    const watching = watch(daemon, 4);
    await report(
      daemon,
      { type: 'turn_start', turnId: 't1' },
      { type: 'text_delta', turnId: 't1', delta: 'one ' },
      { type: 'turn_end', turnId: 't1', text: 'one two' },
    );
    assert.is(textOf(await watching), 'one two');
  });
});

test('live: an answer that was reported anew replaces the deltas', async () => {
  await withDaemon(async (daemon) => {
    const watching = watch(daemon, 3);
    await report(
      daemon,
      { type: 'turn_start', turnId: 't1' },
      { type: 'text_delta', turnId: 't1', delta: 'draft' },
      { type: 'turn_end', turnId: 't1', text: 'final' },
    );
    assert.is(textOf(await watching), 'final');
  });
});

test('joining: at any moment of a turn its text is whole, with nothing twice', async () => {
  await withDaemon(async (daemon) => {
    const parts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const watching: Promise<LiveEvent[]>[] = [];
    const stops: AbortController[] = [];
    const join_ = () => {
      const stopped = new AbortController();
      stops.push(stopped);
      const events = daemon.subscribe('live.subscribe', { from: 1 }, stopped.signal);
      watching.push(
        (async () => {
          const seen: LiveEvent[] = [];
          for await (const event of events) {
            seen.push(event);
            if (event.type === 'turn_end') stopped.abort();
          }
          return seen;
        })(),
      );
    };
    await report(daemon, { type: 'turn_start', turnId: 't1' });
    for (const [place, part] of parts.entries()) {
      const delta = { type: 'text_delta', turnId: 't1', delta: part };
      const tool = { type: 'tool_start', turnId: 't1', toolCallId: `c${place}`, toolName: 'ls' };
      const calling = report(daemon, delta, ...(place % 3 === 0 ? [tool] : []), {
        ...delta,
        delta: `${part}2`,
      });
      join_();
      await Promise.resolve();
      join_();
      await new Promise((resolve) => setImmediate(resolve));
      join_();
      await calling;
      join_();
    }
    await report(daemon, { type: 'turn_end', turnId: 't1' });
    const expected = parts.map((part) => `${part}${part}2`).join('');
    for (const events of await Promise.all(watching)) assert.is(textOf(events), expected);
    assert.ok(stops.every(({ signal }) => signal.aborted));
  });
});

test('filters: one bridge, one conversation', async () => {
  await withDaemon(async (daemon) => {
    await daemon.dispatcher.call('bridge.record', {
      bridgeId: 'b2',
      provider: 'pi',
      conversationKey: 'thread:other',
    });
    const ofBridge = watch(daemon, 1, { bridgeId: 'b2' });
    const ofConversation = watch(daemon, 2, { conversationKey: KEY });
    await report(
      daemon,
      { type: 'turn_start', turnId: 't1' },
      { type: 'text_delta', turnId: 't1', delta: 'x' },
    );
    await daemon.dispatcher.call('bridge.event', {
      bridgeId: 'b2',
      events: [{ type: 'turn_start', turnId: 't2' }],
    });
    assert.equal(
      (await ofBridge).map(({ bridgeId }) => bridgeId),
      ['b2'],
    );
    assert.equal(told(await ofConversation), ['turn_start', 'text_delta x']);
  });
});

test('interruption: hosts of the other bridge are told of it before the turn that caused it', async () => {
  await withDaemon(async (daemon) => {
    await daemon.dispatcher.call('bridge.record', { bridgeId: 'b2', provider: 'pi', conversationKey: KEY });
    const watching = watch(daemon, 4);
    await report(daemon, { type: 'text_delta', turnId: 't1', delta: 'half' });
    await daemon.dispatcher.call('bridge.event', {
      bridgeId: 'b2',
      events: [{ type: 'turn_start', turnId: 't2' }],
    });
    assert.equal(
      (await watching).map((event) => `${event.bridgeId} ${event.type}`),
      ['b1 turn_start', 'b1 text_delta', 'b1 error', 'b2 turn_start'],
    );
  });
});

test('usage: hosts are told the figure of the meter, live and later', async () => {
  await withDaemon(async (daemon) => {
    const watching = watch(daemon, 2);
    const usage = (contextTokens: number, outputTokens: number) => ({
      type: 'usage_update',
      usage: { contextTokens, contextWindow: 100_000, outputTokens },
    });
    await report(daemon, usage(50_000, 10));
    await report(daemon, usage(40_000, 110));
    const figures = (events: readonly LiveEvent[]) =>
      events.map((event) => (event.type === 'usage_update' ? event.usage.contextTokens : undefined));
    assert.equal(figures(await watching), [50_000, 50_100]);
    assert.equal(figures(await watch(daemon, 2, { from: 1 })), [50_000, 50_100]);
  });
});

test('slow: who reads nothing is told so, and costs no more than the bound', async () => {
  await withDaemon(async (daemon) => {
    const stopped = new AbortController();
    const events = daemon.subscribe('live.subscribe', {}, stopped.signal)[Symbol.asyncIterator]();
    const first = events.next();
    await report(daemon, { type: 'turn_start', turnId: 't1' });
    await first;
    const delta = 'x'.repeat(1024 * 1024);
    for (let index = 0; index < 9; index += 1)
      await report(daemon, { type: 'text_delta', turnId: 't1', delta });
    const codes: string[] = [];
    try {
      for (;;) if ((await events.next()).done) break;
    } catch (error) {
      codes.push((error as { code: string }).code);
    }
    assert.equal(codes, ['too_slow']);
  });
});

test.run();
