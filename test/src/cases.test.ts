/*
 * What went wrong for people who kept agent sessions elsewhere, each through the whole of turnlog.
 */
import type { Envelope } from '@turnlog/events';
import { CONTINUE_TEXT } from '@turnlog/projections';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, withHost } from './support/daemon-in-process.ts';

const KEY = 'thread:tab-1';

async function typesIn(host: Host): Promise<string[]> {
  const { events } = await host.daemon.dispatcher.call('log.read', { from: 1, limit: 1_000 });
  return (events as Envelope[]).map(({ type }) => type);
}

test('second compaction: what the first one kept is neither lost nor shown twice', async () => {
  await withHost(async (host) => {
    await host.record('b', 'claude', KEY);
    const turnIds = [];
    for (const [prompt, answer] of [
      ['one', 'r1'],
      ['two', 'r2'],
      ['three', 'r3'],
    ] as const) {
      turnIds.push(await host.turn('b', prompt, answer));
    }
    const compact = (summary: string, keptFromTurnId: string | undefined) =>
      host.report('b', { type: 'compaction_event', status: 'completed', summary, keptFromTurnId });
    await compact('S1', turnIds[1]);
    const fourth = await host.turn('b', 'four', 'r4');
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'S1', 'two', 'r2', 'three', 'r3', 'four', 'r4']);
    const { seq } = await host.load(KEY);
    await compact('S2', fourth);
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'S2', 'four', 'r4']);
    assert.equal(
      await host.contents(KEY, seq),
      [CONTINUE_TEXT, 'S1', 'two', 'r2', 'three', 'r3', 'four', 'r4'],
      'as it was just before',
    );
    const types = await typesIn(host);
    assert.is(types.filter((type) => type === 'turn_ended').length, 4, 'the log keeps every turn');
    assert.is(types.filter((type) => type === 'compaction_completed').length, 2);
    await host.restart();
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'S2', 'four', 'r4']);
  });
});

test('meter: unknown after a boundary until the next report, also across a restart, and never 0', async () => {
  await withHost(async (host) => {
    await host.record('b', 'claude', KEY);
    const usage = (contextTokens: number, outputTokens?: number) =>
      host.report('b', {
        type: 'usage_update',
        usage: { contextTokens, contextWindow: 200_000, outputTokens },
      });
    await usage(100_000);
    assert.is(await host.meter('tab-1:claude'), 100_000);
    await host.report('b', {
      type: 'compaction_event',
      status: 'completed',
      strategy: 'native',
      beforeTokens: 100_000,
      resetContext: true,
    });
    assert.is(await host.meter('tab-1:claude'), undefined);
    await host.restart();
    assert.is(await host.meter('tab-1:claude'), undefined);
    await usage(12_000, 300);
    assert.is(await host.meter('tab-1:claude'), 12_000, 'not held up by the figure before the boundary');
    await usage(170_000);
    await host.report('b', {
      type: 'compaction_event',
      status: 'completed',
      beforeTokens: 170_000,
      afterTokens: 167_000,
      resetContext: false,
    });
    const afterMicro = await host.meter('tab-1:claude');
    assert.ok(afterMicro !== undefined && afterMicro >= 167_000 && afterMicro <= 170_000, String(afterMicro));
  });
});

test('meter: cached tokens count once, by what each provider says of its input', async () => {
  await withHost(async (host) => {
    const reports = [
      [
        'codex',
        { inputTokens: 184_704, cachedTokens: 183_936, outputTokens: 49, contextWindow: 400_000 },
        184_753,
      ],
      [
        'claude',
        { inputTokens: 4, cachedTokens: 98_210 + 2_241, outputTokens: 847, contextWindow: 200_000 },
        101_302,
      ],
      [
        'opencode',
        { inputTokens: 120, cachedTokens: 10_000_000, outputTokens: 16, contextWindow: 128_000 },
        undefined,
      ],
      [
        'acp:gemini',
        { inputTokens: 12_069, cachedTokens: 11_502, outputTokens: 147, contextWindow: 1_000_000 },
        12_216,
      ],
      ['ollama', { inputTokens: 900, outputTokens: 40, contextWindow: 8_192 }, 940],
    ] as const;
    for (const [provider, usage, figure] of reports) {
      await host.record(provider, provider, `thread:${provider}`);
      await host.report(provider, { type: 'usage_update', usage });
      assert.is(await host.meter(`${provider}:${provider}`), figure, provider);
    }
    const { events } = await host.daemon.dispatcher.call('log.read', {
      from: 1,
      limit: 100,
      type: 'usage_updated',
    });
    assert.equal(
      (events as Envelope<string, { usage: object }>[]).map(({ data }) => data.usage),
      reports.map(([, usage]) => usage),
      'the log keeps what was reported',
    );
  });
});

test('summary-reset: one event collapses, unbinds and seeds; the conversation stays one', async () => {
  await withHost(async (host) => {
    await host.record('b', 'hermes', KEY);
    await host.report('b', { type: 'session_id', sessionId: 'H1' });
    await host.report(
      'b',
      { type: 'prompt', text: 'q' },
      { type: 'turn_start', turnId: 't1' },
      { type: 'tool_start', turnId: 't1', toolCallId: 'c1', toolName: 'ls', args: {} },
      { type: 'tool_end', turnId: 't1', toolCallId: 'c1', result: 'files' },
    );
    assert.ok((await typesIn(host)).includes('tool_ended'), 'a tool is kept before the answer is there');
    await host.restart();
    assert.equal(await host.daemon.dispatcher.call('session.get', { sessionKey: 'tab-1:hermes' }), {
      sessionId: 'H1',
    });
    await host.record('b', 'hermes', KEY);
    await host.report('b', { type: 'turn_end', turnId: 't1', text: 'a' });
    const before = await typesIn(host);
    await host.report('b', {
      type: 'compaction_event',
      status: 'completed',
      strategy: 'summary-reset',
      summary: 'S',
      resetContext: true,
    });
    const after = await typesIn(host);
    assert.equal(
      after.slice(before.length),
      ['compaction_completed'],
      'nothing between that a crash could part',
    );
    await host.restart();
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'S']);
    assert.equal(await host.daemon.dispatcher.call('session.get', { sessionKey: 'tab-1:hermes' }), {});
    await host.record('b', 'hermes', KEY);
    await host.report('b', { type: 'turn_end', turnId: 't1', text: 'late' });
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'S'], 'what comes late is in the log only');
    const { conversations } = await host.daemon.dispatcher.call('conversation.list', {});
    assert.equal(
      conversations.map(({ conversationKey }) => conversationKey),
      [KEY],
    );
  });
});

test('two writers: both stay in the log, one turn at a time, and a dead one blocks nobody', async () => {
  await withHost(async (host) => {
    await host.record('a', 'codex', KEY);
    await host.record('b', 'claude', KEY);
    await Promise.all([
      host.report('a', { type: 'prompt', text: 'A' }, { type: 'turn_start', turnId: 't' }),
      host.report('b', { type: 'prompt', text: 'B' }, { type: 'turn_start', turnId: 't' }),
    ]);
    await host.report('b', { type: 'turn_end', turnId: 't', text: 'for B' });
    await host.restart();
    await host.turn('b', 'B again', 'for B again');
    assert.equal(await host.contents(KEY), ['A', 'B', 'for B', 'B again', 'for B again']);
    const { events } = await host.daemon.dispatcher.call('log.read', { from: 1, limit: 100 });
    const seqs = (events as Envelope[]).map(({ seq }) => seq);
    assert.equal(
      seqs,
      seqs.map((_, index) => index + 1),
    );
  });
});

test('two writers: an append that expects a revision that is gone is refused, and names the head', async () => {
  await withHost(async ({ daemon: { log } }) => {
    const append = (id: string, expectedRevision: number) =>
      log.append(
        'conversation:c',
        [{ id, type: 'conversation_cleared', data: { conversationKey: 'c', reason: 'requested' } }],
        { expectedRevision },
      );
    assert.is((await append('A1', 0)).revision, 1);
    const refused = await append('B1', 0).then(
      () => undefined,
      (error) => error,
    );
    assert.is(refused?.code, 'revision_conflict');
    assert.is(refused.details.actual, 1);
    assert.is((await append('A2', 1)).revision, 2);
    assert.is((await append('B2', 2)).revision, 3);
  });
});

test.run();
