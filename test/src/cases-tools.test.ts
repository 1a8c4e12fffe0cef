/*
 * Tool calls without a result and results without a call. What is replayed to a provider holds what was said
 * and no tools, so that there is nothing that could be open in it; the log keeps both as they were reported,
 * and nothing is ever made up to repair them.
 */
import type { Envelope } from '@turnlog/events';
import { CONTINUE_TEXT } from '@turnlog/projections';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withHost } from './support/daemon-in-process.ts';
import { type DaemonProcess, withDirectory } from './support/daemon-process.ts';

const KEY = 'thread:tab-1';
const BRIDGE = { bridgeId: 'b', provider: 'claude', conversationKey: KEY };

type ToolEvent = Envelope<string, { toolCallId: string; result?: unknown; isError?: boolean }>;

function toolsOf(events: readonly unknown[]): string[] {
  return (events as ToolEvent[])
    .filter(({ type }) => type.startsWith('tool_'))
    .map(({ type, data }) => `${type} ${data.toolCallId}`);
}

async function logOf({ client }: DaemonProcess): Promise<unknown[]> {
  return (await client.call('log.read', { from: 1, limit: 1_000 })).events;
}

const call = (toolCallId: string) => ({
  type: 'tool_start',
  turnId: 't1',
  toolCallId,
  toolName: 'read',
  args: {},
});
const result = (toolCallId: string) => ({ type: 'tool_end', turnId: 't1', toolCallId, result: 'x' });

test('tools: a crash between call and result leaves the log as it was reported, and a replay without either', async () => {
  await withDirectory(async (_directory, start) => {
    const first = await start();
    await first.client.call('bridge.record', BRIDGE);
    await first.client.call('bridge.event', {
      bridgeId: 'b',
      events: [
        { type: 'prompt', text: 'go' },
        { type: 'turn_start', turnId: 't1' },
        { type: 'text_delta', turnId: 't1', delta: 'I shall look. ' },
        ...['c1', 'c2', 'c3'].map(call),
        ...['c1', 'c3'].map(result),
      ],
    });
    const before = await logOf(first);
    await first.kill('SIGKILL');

    const second = await start();
    assert.equal(await logOf(second), before, 'a restart adds nothing');
    await second.client.call('bridge.record', BRIDGE);
    await second.client.call('bridge.event', {
      bridgeId: 'b',
      events: [
        { type: 'prompt', text: 'continue' },
        { type: 'turn_start', turnId: 't2' },
        { type: 'turn_end', turnId: 't2', text: 'done' },
      ],
    });
    const replayed = async () =>
      (await second.client.call('conversation.load', { conversationKey: KEY })).messages;
    const messages = await replayed();
    assert.equal(
      messages.map(({ role, content }) => `${role} ${content}`),
      ['user go', 'assistant I shall look. ', 'user continue', 'assistant done'],
    );
    const after = await logOf(second);
    assert.equal(await replayed(), messages);
    assert.equal(await logOf(second), after, 'a replay adds nothing, however often it is asked for');
    assert.equal(after.slice(0, before.length), before);
    assert.equal(toolsOf(after), toolsOf(before), 'no result was made up for the call that has none');
    const rebuilt = await second.client.call('projections.rebuild', { check: true });
    assert.ok(rebuilt.projections.every(({ equal }) => equal));
  });
});

test('tools: a result whose call nobody reported is kept, and one that comes after its turn too', async () => {
  await withHost(async (host) => {
    await host.record('b', 'claude', KEY);
    await host.report(
      'b',
      { type: 'turn_start', turnId: 't1' },
      result('never called'),
      { type: 'turn_end', turnId: 't1', text: 'answer' },
      result('late'),
      { type: 'turn_start', turnId: 't2' },
      result('of the turn before'),
      { type: 'turn_end', turnId: 't2', text: 'more' },
    );
    const { events } = await host.daemon.dispatcher.call('log.read', { from: 1, limit: 100 });
    assert.equal(toolsOf(events), [
      'tool_ended never called',
      'tool_ended late',
      'tool_ended of the turn before',
    ]);
    assert.ok((events as ToolEvent[]).every(({ data }) => data.isError !== true));
    assert.equal(await host.contents(KEY), ['answer', 'more']);
  });
});

test('tools: an interrupted turn tells its hosts that it is over, and that is the end of its open calls', async () => {
  await withHost(async (host) => {
    await host.record('b', 'claude', KEY);
    await host.record('c', 'codex', KEY);
    await host.report('b', { type: 'turn_start', turnId: 't1' }, call('c1'));
    await host.report('c', { type: 'turn_start', turnId: 't1' });
    const { events } = await host.daemon.dispatcher.call('log.read', { from: 1, limit: 100 });
    const types = (events as Envelope[]).map(({ type }) => type);
    assert.equal(types.slice(-3), ['tool_started', 'turn_interrupted', 'turn_started']);
  });
});

test('tools: what a compaction keeps begins with a whole turn, never within a call and its result', async () => {
  await withHost(async (host) => {
    await host.record('b', 'claude', KEY);
    const turn = (turnId: string, ...events: object[]) =>
      host.report(
        'b',
        { type: 'prompt', text: `asked ${turnId}`, turnId },
        { type: 'turn_start', turnId },
        ...events,
        { type: 'turn_end', turnId, text: `answer ${turnId}` },
      );
    await turn('t0');
    await turn('t1', call('c1'), call('c2'), result('c1'));
    const compact = (summary: string, keptFromTurnId: string) =>
      host.report('b', { type: 'compaction_event', status: 'completed', summary, keptFromTurnId });
    await compact('S', 't1');
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'S', 'asked t1', 'answer t1']);
    await turn('t2');
    // A call is no turn: there is no place within a turn at which the rest could begin.
    await compact('S2', 'c1');
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'S2']);
    const { events } = await host.daemon.dispatcher.call('log.read', { from: 1, limit: 100 });
    assert.equal(toolsOf(events), ['tool_started c1', 'tool_started c2', 'tool_ended c1']);
  });
});

test.run();
