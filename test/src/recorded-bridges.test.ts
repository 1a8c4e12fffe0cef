/* The rules of recorded bridges, through the whole of a daemon: its log, its projections and its files. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Envelope } from '@turnlog/events';
import { CONTINUE_TEXT, shardFileOf } from '@turnlog/projections';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, withHost } from './support/daemon-in-process.ts';

const KEY = 'thread:tab-1';

const start = (turnId: string) => ({ type: 'turn_start', turnId });
const delta = (turnId: string, text: string) => ({ type: 'text_delta', turnId, delta: text });
const end = (turnId: string, more: object = {}) => ({ type: 'turn_end', turnId, ...more });

async function session(host: Host, provider: string) {
  return await host.daemon.dispatcher.call('session.get', { sessionKey: `tab-1:${provider}` });
}

async function typesFrom(host: Host, from: number): Promise<string[]> {
  const { events } = await host.daemon.dispatcher.call('log.read', { from, limit: 1_000 });
  return (events as Envelope[]).map(({ type }) => type);
}

test('late end: it completes the text of an interrupted turn in place, in the tables and in the file', async () => {
  await withHost(async (host) => {
    await host.record('a', 'codex', KEY);
    await host.record('b', 'claude', KEY);
    await host.report('a', { type: 'prompt', text: 'one' }, start('t'), delta('t', 'half of '));
    await host.report('b', { type: 'prompt', text: 'two' }, start('t'), end('t', { text: 'second' }));
    assert.equal(await host.contents(KEY), ['one', 'half of ', 'two', 'second']);
    const interruptedAt = host.daemon.log.head();
    await host.restart();
    await host.report('a', delta('t', 'the answer'), end('t'));
    assert.equal(await host.contents(KEY), ['one', 'half of the answer', 'two', 'second']);
    assert.equal(await host.contents(KEY, interruptedAt), ['one', 'half of ', 'two', 'second'], 'as it was');
    await host.report('a', end('t', { text: 'again' }));
    assert.equal(await host.contents(KEY), ['one', 'half of the answer', 'two', 'second'], 'once');
    await host.daemon.dispatcher.call('projections.flush', {});
    const file = JSON.parse(await readFile(join(host.dataDirectory, shardFileOf(KEY)), 'utf8'));
    assert.equal(
      file.conversations[KEY].map(({ content }: { content: string }) => content),
      ['one', 'half of the answer', 'two', 'second'],
    );
  });
});

test('late end: of a turn that a summary tells of already it is in the log only', async () => {
  await withHost(async (host) => {
    await host.record('a', 'codex', KEY);
    await host.record('b', 'claude', KEY);
    await host.report('a', { type: 'prompt', text: 'one' }, start('t'), delta('t', 'half'));
    await host.report('b', start('t'), end('t', { text: 'second' }));
    await host.report('b', { type: 'compaction_event', status: 'completed', summary: 'S' });
    await host.report('a', end('t', { text: 'whole' }));
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'S']);
  });
});

test('clear in mid-turn: the turn runs on in the log, and nothing of it enters the shard or the session', async () => {
  await withHost(async (host) => {
    await host.record('a', 'claude', KEY);
    await host.report('a', { type: 'prompt', text: 'old' }, start('t1'), delta('t1', 'gathered'));
    await host.daemon.dispatcher.call('conversation.clear', { conversationKey: KEY });
    const clearedAt = host.daemon.log.head();
    await host.report(
      'a',
      { type: 'session_id', sessionId: 'of the old one' },
      { type: 'usage_update', usage: { contextTokens: 90_000 } },
      delta('t1', ' more'),
      end('t1', { usage: { contextTokens: 95_000 } }),
    );
    assert.equal(await host.contents(KEY), []);
    assert.equal(await session(host, 'claude'), {});
    assert.equal(await typesFrom(host, clearedAt + 1), [
      'turn_output',
      'session_bound',
      'usage_updated',
      'turn_ended',
    ]);
    await host.restart();
    assert.equal(await host.contents(KEY), []);
    await host.report('a', { type: 'session_id', sessionId: 'new' });
    await host.turn('a', 'new', 'answer');
    await host.report('a', { type: 'usage_update', usage: { contextTokens: 1_000 } });
    assert.equal(await host.contents(KEY), ['new', 'answer']);
    assert.equal(await session(host, 'claude'), { sessionId: 'new', usage: { contextTokens: 1_000 } });
  });
});

test('clear: done again it ends the sessions that have come about since', async () => {
  await withHost(async (host) => {
    await host.record('a', 'claude', KEY);
    await host.turn('a', 'old', 'answer');
    await host.daemon.dispatcher.call('conversation.clear', { conversationKey: KEY });
    await host.report('a', { type: 'session_id', sessionId: 'S' });
    assert.equal(await session(host, 'claude'), { sessionId: 'S' });
    await host.daemon.dispatcher.call('conversation.clear', { conversationKey: KEY });
    assert.equal(await session(host, 'claude'), {});
  });
});

test('compaction: only one with a summary collapses the shard, and only a summary-reset drops the resume id', async () => {
  await withHost(async (host) => {
    await host.record('a', 'claude', KEY);
    await host.report('a', { type: 'session_id', sessionId: 'S' });
    await host.turn('a', 'asked', 'answered');
    const compact = (more: object) =>
      host.report('a', { type: 'compaction_event', status: 'completed', ...more });
    await compact({ strategy: 'native' });
    await compact({ strategy: 'local-summary', summary: '' });
    assert.equal(await host.contents(KEY), ['asked', 'answered']);
    await compact({ strategy: 'native', summary: 'of the provider' });
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'of the provider']);
    assert.equal(await session(host, 'claude'), { sessionId: 'S' });
    await compact({ strategy: 'summary-reset', summary: 'for the next' });
    assert.equal(await host.contents(KEY), [CONTINUE_TEXT, 'for the next']);
    assert.equal(await session(host, 'claude'), {});
  });
});

test('alias: of a conversation that was cleared there is nothing to copy, and the answer says so', async () => {
  await withHost(async (host) => {
    const { dispatcher } = host.daemon;
    await host.record('a', 'codex', KEY);
    await host.turn('a', 'asked', 'answered');
    await dispatcher.call('conversation.clear', { conversationKey: KEY });
    const { seq: _, ...answer } = await dispatcher.call('conversation.alias', { from: KEY, to: 'web:tab-1' });
    assert.equal(answer, { aliased: false, reason: 'no_source' });
  });
});

test('meter: its snapshot survives a restart and seeds the next start', async () => {
  await withHost(async (host) => {
    await host.record('a', 'codex', KEY);
    await host.report('a', start('t1'), {
      type: 'usage_update',
      usage: { contextTokens: 42_000, contextWindow: 200_000, model: 'm' },
    });
    await host.report('a', { type: 'closed', code: 0 });
    await host.restart();
    await host.record('a2', 'codex', KEY);
    assert.equal(await session(host, 'codex'), {
      usage: { contextTokens: 42_000, contextWindow: 200_000, model: 'm' },
    });
    // The first report of a provider that begins anew is low: the figure is held, and only output is added.
    const [, low] = await host.report('a2', start('t1'), {
      type: 'usage_update',
      usage: { contextTokens: 900, outputTokens: 100 },
    });
    const told = (low as { usage?: { contextTokens?: number; contextWindow?: number } }).usage;
    assert.is(told?.contextTokens, 42_100);
    assert.is(told?.contextWindow, 200_000);
    assert.equal(await session(host, 'codex'), {
      usage: { contextTokens: 42_100, contextWindow: 200_000, model: 'm' },
    });
  });
});

test('meter: it leaves with a reset, and the next start begins with what is reported then', async () => {
  await withHost(async (host) => {
    await host.record('a', 'codex', KEY);
    await host.report('a', {
      type: 'usage_update',
      usage: { contextTokens: 42_000, contextWindow: 200_000 },
    });
    await host.daemon.dispatcher.call('bridge.resetSession', { sessionKey: 'tab-1:codex' });
    assert.equal(await session(host, 'codex'), {});
    await host.restart();
    await host.report('a', start('t1'), { type: 'usage_update', usage: { contextTokens: 900 } });
    assert.equal(await session(host, 'codex'), { usage: { contextTokens: 900 } });
  });
});

test('meter: a missing window is that of the last report of the same model', async () => {
  await withHost(async (host) => {
    await host.record('a', 'claude', KEY);
    const usage = (contextTokens: number, model: string, contextWindow?: number) =>
      host.report('a', {
        type: 'usage_update',
        usage: { contextTokens, model, contextBreakdown: { all: contextTokens }, contextWindow },
      });
    await usage(10_000, 'large', 1_000_000);
    await usage(11_000, 'small', 200_000);
    await usage(12_000, 'large');
    assert.is((await session(host, 'claude')).usage?.contextWindow, 1_000_000);
    await host.restart();
    await usage(300_000, 'small');
    assert.equal((await session(host, 'claude')).usage, {
      contextTokens: 200_000,
      contextWindow: 200_000,
      model: 'small',
    });
    await usage(5_000, 'never seen');
    assert.is((await session(host, 'claude')).usage?.contextWindow, undefined);
  });
});

test('provider switch: each keeps a session of its own in one conversation, across restarts', async () => {
  await withHost(async (host) => {
    await host.record('a', 'codex', KEY);
    await host.report('a', { type: 'session_id', sessionId: 'codex id' });
    await host.turn('a', 'one', 'of codex');
    await host.report(
      'a',
      { type: 'usage_update', usage: { contextTokens: 10_000 } },
      { type: 'closed', code: 0 },
    );
    await host.record('b', 'claude', KEY);
    await host.report('b', { type: 'session_id', sessionId: 'claude id' });
    await host.turn('b', 'two', 'of claude');
    await host.report(
      'b',
      { type: 'usage_update', usage: { contextTokens: 20_000 } },
      { type: 'closed', code: 0 },
    );
    await host.restart();
    assert.equal(await session(host, 'codex'), { sessionId: 'codex id', usage: { contextTokens: 10_000 } });
    assert.equal(await session(host, 'claude'), { sessionId: 'claude id', usage: { contextTokens: 20_000 } });
    assert.equal(await host.contents(KEY), ['one', 'of codex', 'two', 'of claude']);

    await host.record('a', 'codex', KEY);
    await host.report('a', { type: 'session_id', sessionId: 'codex id', resumed: true });
    await host.daemon.dispatcher.call('bridge.resetSession', { sessionKey: 'tab-1:claude' });
    assert.equal(await session(host, 'claude'), {}, 'the one that was reset');
    assert.is((await session(host, 'codex')).sessionId, 'codex id', 'and not the other');
    const { conversations } = await host.daemon.dispatcher.call('conversation.list', {});
    assert.equal(
      conversations.map(({ conversationKey, messages }) => [conversationKey, messages]),
      [[KEY, 4]],
    );
  });
});

test('session: the desktop and the web of one session share its resume id', async () => {
  await withHost(async (host) => {
    await host.record('desktop', 'codex', 'thread:tab-1');
    await host.report('desktop', { type: 'session_id', sessionId: 'S' }, { type: 'closed', code: 0 });
    await host.record('remote', 'codex', 'web:tab-1');
    assert.equal(await session(host, 'codex'), { sessionId: 'S' });
    await host.turn('remote', 'asked', 'answered');
    assert.equal(await host.contents('web:tab-1'), ['asked', 'answered']);
  });
});

test.run();
