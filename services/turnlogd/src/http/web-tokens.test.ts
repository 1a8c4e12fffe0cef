import type { OperationName } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Daemon } from '../daemon.ts';
import { type Bench, withBench } from './testing.ts';

/** What the owner has, and a web token must not come near: each of it says "secret". */
async function furnish({ dispatcher }: Daemon): Promise<void> {
  const turn = (turnId: string, text: string) => [
    { type: 'prompt', turnId, text: `${text} question` },
    { type: 'turn_start', turnId },
    { type: 'session_id', sessionId: `${text}-id` },
    { type: 'turn_end', turnId, text: `${text} answer` },
  ];
  for (const [bridgeId, conversationKey, text] of [
    ['local-bridge', 'thread:desk', 'secret'],
    ['keyless', undefined, 'secret'],
    ['odd', 'website', 'secret'],
  ] as const) {
    const conversation = conversationKey === undefined ? {} : { conversationKey };
    await dispatcher.call('bridge.record', { bridgeId, provider: 'codex', ...conversation });
    await dispatcher.call('bridge.event', { bridgeId, events: turn('t1', text) });
  }
  const messages = [{ id: 'r', text: 'secret row' }];
  for (const scopeId of ['thread:desk', 'website', 'a', 'zzz'])
    await dispatcher.call('transcripts.save', { scopeId, messages });
}

interface Web extends Bench {
  /** What a web token is answered: the result, or the code of the error. */
  web(name: string, body?: object): Promise<unknown>;
  webToken: string;
}

async function withWeb(task: (web: Web) => Promise<void>): Promise<void> {
  await withBench(async (bench) => {
    await furnish(bench.daemon);
    const { token: webToken } = await bench.daemon.tokens.create({ scope: 'web' });
    await task({
      ...bench,
      webToken,
      async web(name, body = {}) {
        const answer = await bench.send(`/v1/${name}`, { body, token: webToken });
        assert.not.match(answer.text, 'secret', `${name} ${JSON.stringify(body)}`);
        return answer.body.error?.code ?? answer.body.result;
      },
    });
  });
}

test('web token: none of the owner’s conversations, transcripts and bridges can be read', async () => {
  await withWeb(async ({ web, daemon }) => {
    const head = daemon.log.head();
    for (const key of [
      'thread:desk',
      'web:thread:desk',
      'website',
      'site',
      'desk',
      '../thread:desk',
      '__proto__',
    ]) {
      assert.is(await web('conversation.load', { conversationKey: key }), 'conversation_not_found', key);
      assert.is(
        await web('conversation.load', { conversationKey: key, at: head }),
        'conversation_not_found',
        key,
      );
      assert.is(await web('conversation.replay', { conversationKey: key }), 'conversation_not_found', key);
      assert.equal(await web('transcripts.load', { scopeId: key }), { messages: [], seq: head });
    }
    for (const query of [{}, { prefix: 'thread:' }, { prefix: '' }, { text: 'secret' }, { after: 'a' }]) {
      assert.equal(await web('conversation.list', query), { conversations: [] }, JSON.stringify(query));
    }
    for (const page of [{}, { after: 'a' }, { after: 'zz' }, { limit: 1 }, { limit: 1_000 }]) {
      assert.equal(await web('transcripts.loadAll', page), { transcripts: {}, seq: head });
    }
    assert.equal(await web('transcripts.mtimes'), { times: {} });
    assert.equal(await web('bridge.list'), { bridges: [] });
    assert.is(daemon.log.head(), head);
  });
});

test('web token: the log, the projections, the daemon and the tokens are not opened', async () => {
  await withWeb(async ({ web, daemon }) => {
    const head = daemon.log.head();
    const calls: [OperationName, object][] = [
      ['log.read', { from: 1 }],
      ['log.verify', {}],
      ['projections.status', {}],
      ['projections.flush', {}],
      ['projections.rebuild', {}],
      ['daemon.status', {}],
      ['migration.run', { directory: '/etc' }],
      ['migration.import', { items: [] }],
      ['migration.readBack', { subjects: [{ kind: 'conversation', key: 'thread:desk' }] }],
      ['migration.complete', { source: 's', fingerprint: 'f', counts: {} }],
      ['token.create', { scope: 'local' }],
      ['token.list', {}],
      ['token.revoke', { id: 'x' }],
    ];
    for (const [name, body] of calls) assert.is(await web(name, body), 'forbidden', name);
    assert.is(daemon.log.head(), head);
    assert.is(daemon.tokens.list().length, 1);
  });
});

test('web token: a bridge of the owner is not used, ended, replaced or taken over', async () => {
  await withWeb(async ({ web, daemon }) => {
    for (const bridgeId of ['local-bridge', 'keyless', 'odd']) {
      const events = [{ type: 'turn_start', turnId: 'mine' }];
      assert.is(await web('bridge.event', { bridgeId, events }), 'bridge_not_found', bridgeId);
      assert.is(await web('bridge.stop', { bridgeId }), 'bridge_not_found', bridgeId);
      const record = { bridgeId, provider: 'codex', conversationKey: 'mine' };
      assert.is(await web('bridge.record', record), 'forbidden', bridgeId);
      assert.is(
        await web('bridge.record', { ...record, conversationKey: 'thread:desk' }),
        'forbidden',
        bridgeId,
      );
    }
    const { bridges } = await daemon.dispatcher.call('bridge.list', {});
    assert.is(bridges.length, 3);
    // Of one that has stopped the id is known still: a late report must not find its turn.
    await daemon.dispatcher.call('bridge.stop', { bridgeId: 'local-bridge' });
    const record = { bridgeId: 'local-bridge', provider: 'codex', conversationKey: 'mine' };
    assert.is(await web('bridge.record', record), 'forbidden');
    const late = { bridgeId: 'local-bridge', events: [{ type: 'turn_end', turnId: 't1', text: 'forged' }] };
    assert.is(await web('bridge.event', late), 'bridge_not_found');
    const { messages } = await daemon.dispatcher.call('conversation.load', {
      conversationKey: 'thread:desk',
    });
    assert.equal(
      messages.map(({ content }) => content),
      ['secret question', 'secret answer'],
    );
  });
});

test('web token: its own conversation is web:<session>, and is told as <session>', async () => {
  await withWeb(async ({ web, daemon }) => {
    const session = 'desk/"é" \u{1f600}';
    const opened = await web('bridge.record', { bridgeId: 'w', provider: 'codex', conversationKey: session });
    assert.is((opened as { attached: boolean }).attached, false);
    const events = [
      { type: 'prompt', turnId: 't', text: 'hello' },
      { type: 'turn_start', turnId: 't' },
      { type: 'session_id', sessionId: 'native' },
      { type: 'turn_end', turnId: 't', text: 'hi' },
    ];
    await web('bridge.event', { bridgeId: 'w', events });
    const messages = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'hi' },
    ];
    const own = (await web('conversation.load', { conversationKey: session })) as { messages: unknown };
    assert.equal(own.messages, messages);
    const asOwner = await daemon.dispatcher.call('conversation.load', { conversationKey: `web:${session}` });
    assert.equal(asOwner.messages as unknown, messages);
    const list = (await web('conversation.list')) as { conversations: { conversationKey: string }[] };
    assert.equal(
      list.conversations.map(({ conversationKey }) => conversationKey),
      [session],
    );
    const bridges = (await web('bridge.list')) as {
      bridges: { conversationKey: string; sessionKey: string }[];
    };
    assert.equal(
      bridges.bridges.map(({ conversationKey, sessionKey }) => [conversationKey, sessionKey]),
      [[session, `${session}:codex`]],
    );
    // The desktop's conversation of the same session has the same session key: the resume id is there.
    const resume = await daemon.dispatcher.call('session.get', { sessionKey: `${session}:codex` });
    assert.is(resume.sessionId, 'native');
    assert.equal(await web('session.get', { sessionKey: `${session}:codex` }), { sessionId: 'native' });
  });
});

test('web token: its own transcripts, by their own names', async () => {
  await withWeb(async ({ web, daemon }) => {
    const messages = [{ id: '1', text: 'mine' }];
    await web('transcripts.save', { scopeId: 'zzz', messages });
    const batch = (await web('transcripts.saveBatch', {
      entries: [{ scopeId: '__proto__', messages, base: 0 }],
    })) as { bases: object };
    assert.equal(Object.keys(batch.bases), ['__proto__']);
    const seq = daemon.log.head();
    assert.equal(await web('transcripts.load', { scopeId: 'zzz' }), { messages, seq });
    const all = (await web('transcripts.loadAll', { limit: 1 })) as { transcripts: object; next?: string };
    assert.equal(Object.keys(all.transcripts), ['__proto__']);
    assert.is(all.next, '__proto__');
    const rest = (await web('transcripts.loadAll', { after: '__proto__' })) as {
      transcripts: object;
      next?: string;
    };
    assert.equal(rest.transcripts, { zzz: messages });
    assert.is(rest.next, undefined);
    const times = (await web('transcripts.mtimes')) as { times: object };
    assert.equal(Object.keys(times.times).sort(), ['__proto__', 'zzz']);
    const owner = await daemon.dispatcher.call('transcripts.load', { scopeId: 'zzz' });
    assert.equal(JSON.parse(JSON.stringify(owner.messages)), [{ id: 'r', text: 'secret row' }]);
  });
});

test('web token: an alias is from its own to its own', async () => {
  await withWeb(async ({ web }) => {
    const alias = (await web('conversation.alias', { from: 'thread:desk', to: 'mine' })) as {
      aliased: boolean;
    };
    assert.is(alias.aliased, false);
    assert.is(await web('conversation.load', { conversationKey: 'mine' }), 'conversation_not_found');
  });
});

test('web token: a command of its own is no command of the owner', async () => {
  await withWeb(async ({ web, daemon }) => {
    const parameters = { scopeId: 'web:s', commandId: 'c' };
    await daemon.dispatcher.call('transcripts.remove', parameters);
    const head = daemon.log.head();
    await web('transcripts.remove', { scopeId: 's', commandId: 'c' });
    assert.is(daemon.log.head(), head + 2);
    assert.is(await web('transcripts.remove', { scopeId: 't', commandId: 'c' }), 'event_conflict');
  });
});

test('web token: a key that is too long with web: before it is refused', async () => {
  await withWeb(async ({ web, daemon }) => {
    const load = (length: number) => web('conversation.load', { conversationKey: 'x'.repeat(length) });
    assert.is(await load(4_092), 'conversation_not_found');
    assert.is(await load(4_093), 'invalid_argument');
    const record = { bridgeId: 'b', provider: 'codex', conversationKey: 'x'.repeat(4_096) };
    assert.is(await web('bridge.record', record), 'invalid_argument');
    assert.is((await daemon.dispatcher.call('bridge.list', {})).bridges.length, 3);
  });
});

test('web token: live events of its own conversation and of no other', async () => {
  await withWeb(async ({ webToken, enter, send, daemon }) => {
    const line = await enter(webToken);
    for (const params of [{}, { bridgeId: 'local-bridge' }, { from: 1 }]) {
      assert.is((await line.call('live.subscribe', params)).error?.data.code, 'invalid_argument');
    }
    assert.is((await line.call('log.subscribe', { from: 1 })).error?.data.code, 'forbidden');
    for (const path of ['/v1/events?from=1', '/v1/live?from=1']) {
      assert.ok((await send(path, { method: 'GET', token: webToken })).status >= 400, path);
    }
    await line.call('live.subscribe', { conversationKey: 'thread:desk', from: 1 });
    await line.call('live.subscribe', { conversationKey: 'mine', from: 1 });
    const { dispatcher } = daemon;
    await dispatcher.call('bridge.event', {
      bridgeId: 'local-bridge',
      events: [{ type: 'status', message: 'secret' }],
    });
    await dispatcher.call('bridge.record', { bridgeId: 'w', provider: 'codex', conversationKey: 'web:mine' });
    await dispatcher.call('bridge.event', { bridgeId: 'w', events: [{ type: 'turn_start', turnId: 't' }] });
    const first = await line.until(({ params }) => params?.event !== undefined);
    assert.is(first.params?.event?.type, 'turn_start');
    assert.is(first.params?.subscription, 2);
    assert.not.match(JSON.stringify(line.messages), 'secret');
  });
});

test('revoked: the token opens nothing more, and what was opened with it ends', async () => {
  await withWeb(async ({ webToken, enter, web, daemon, url, http }) => {
    const line = await enter(webToken);
    const stream = await fetch(`${url}/v1/live?conversationKey=mine`, {
      headers: { authorization: `Bearer ${webToken}` },
    });
    assert.is(http.subscribers(), 1);
    const [token] = daemon.tokens.list();
    await daemon.dispatcher.call('token.revoke', { id: token?.id ?? '' });
    assert.is(await line.closed, '1008 unauthorized');
    await stream.text();
    assert.is(await web('conversation.list'), 'unauthorized');
  });
});

test('tokens: made and revoked by operations, with the owner’s token alone', async () => {
  await withWeb(async ({ send, daemon }) => {
    const { body } = await send('/v1/token.create', { body: { scope: 'local', name: 'phone' } });
    const made = body.result as { id: string; token: string; scope: string; name: string };
    assert.is(made.scope, 'local');
    assert.is((await send('/v1/daemon.status', { body: {}, token: made.token })).status, 200);
    const listed = await send('/v1/token.list', { body: {} });
    assert.is((listed.body.result as { tokens: unknown[] }).tokens.length, 2);
    assert.not.ok(listed.text.includes(made.token));
    assert.is((await send('/v1/token.revoke', { body: { id: made.id } })).status, 200);
    assert.is(
      (await send('/v1/token.revoke', { body: { id: made.id } })).body.error?.code,
      'token_not_found',
    );
    assert.is((await send('/v1/daemon.status', { body: {}, token: made.token })).status, 401);
    assert.is(daemon.tokens.list().length, 1);
  });
});

test.run();
