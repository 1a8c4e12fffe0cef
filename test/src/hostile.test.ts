/*
 * Hostile and colliding keys, texts and values through every operation of the registry: what comes back is
 * what went in, unchanged, or it was refused as what it is.
 */
import {
  type Envelope,
  type Message,
  type OperationName,
  type OperationParameters,
  type OperationResult,
  operations,
  TurnlogError,
} from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, openHost } from './support/daemon-in-process.ts';
import { HOSTILE_KEYS, HOSTILE_TEXTS, HOSTILE_VALUES, overTheWire } from './support/hostile-values.ts';

let host: Host;
let close: () => Promise<void>;

test.before(async () => {
  ({ host, close } = await openHost());
});

test.after(async () => {
  await close();
});

async function call<Name extends OperationName>(
  name: Name,
  parameters: OperationParameters<Name>,
): Promise<OperationResult<Name>> {
  return overTheWire(await host.daemon.dispatcher.call(name, overTheWire(parameters)));
}

async function codeOf(task: Promise<unknown>): Promise<string> {
  try {
    await task;
    return 'none';
  } catch (error) {
    return error instanceof TurnlogError ? error.code : String(error);
  }
}

const KEYS = HOSTILE_KEYS.map((key, place) => ({ key, place }));

/** A text and a value that belong to the key of a place. */
const textAt = (place: number) => `${place} ${HOSTILE_TEXTS[place % HOSTILE_TEXTS.length]}`;
const valueAt = (place: number) => ({
  place,
  value: HOSTILE_VALUES[place % HOSTILE_VALUES.length],
  ...keyed(place),
});
const keyed = (place: number) =>
  Object.fromEntries([[HOSTILE_KEYS[place % HOSTILE_KEYS.length] as string, place]]);
const rowsAt = (place: number) => [
  { id: `row ${place}`, text: textAt(place) },
  valueAt(place),
  textAt(place),
];
/** A provider's id is part of a key, too. */
const providerOf = (key: string) => `plugin:${key.slice(0, 1_000).toWellFormed()}`;

function reportsAt(place: number, key: string): object[] {
  const text = textAt(place);
  return [
    { type: 'prompt', promptId: key, turnId: key, text },
    { type: 'turn_start', turnId: key },
    { type: 'session_id', sessionId: text, resumed: true },
    { type: 'thinking_delta', turnId: key, delta: text },
    { type: 'text_delta', turnId: key, delta: text },
    { type: 'tool_start', turnId: key, toolCallId: key, toolName: text, args: valueAt(place) },
    { type: 'tool_end', turnId: key, toolCallId: key, title: text, args: text, result: valueAt(place) },
    { type: 'user_request', requestId: key, turnId: key, kind: text, title: text, options: [valueAt(place)] },
    { type: 'user_request_resolved', requestId: key, action: text, by: text },
    { type: 'follow_up_queued', promptId: key, text },
    { type: 'follow_up_removed', promptId: key, reason: 'removed' },
    { type: 'compaction_event', status: 'failed', turnId: key, message: text, keptFromTurnId: key },
    {
      type: 'usage_update',
      turnId: key,
      usage: { contextTokens: place + 1, model: text, contextBreakdown: valueAt(place) },
    },
    { type: 'error', code: text, message: text },
    { type: 'turn_end', turnId: key, text, stopReason: text },
  ];
}

function messagesAt(place: number): Message[] {
  const text = textAt(place);
  return [
    { role: 'user', content: text },
    { role: 'assistant', content: text },
  ];
}

async function streamOf(key: string): Promise<Envelope<string, Record<string, unknown>>[]> {
  const { events } = await call('log.read', { from: 1, limit: 1_000, stream: `conversation:${key}` });
  return events as Envelope<string, Record<string, unknown>>[];
}

type Trial = (key: string, place: number) => Promise<void>;

/** In this order, each for all keys at once, so that two keys which are taken for one get in each other's way. */
const TRIALS: Record<OperationName, Trial> = {
  'bridge.record': async (key) => {
    const bridge = {
      bridgeId: key,
      provider: providerOf(key),
      conversationKey: key,
      sessionKey: key,
      model: key,
      cwd: key,
      commandId: key,
    };
    const opened = await call('bridge.record', bridge);
    assert.is(opened.attached, false);
    assert.equal(await call('bridge.record', bridge), opened, 'the same command again');
    const { commandId: _, ...again } = bridge;
    assert.is((await call('bridge.record', again)).attached, true);
  },
  'bridge.event': async (key, place) => {
    const events = reportsAt(place, key);
    const { accepted, durableThrough, emitted } = await call('bridge.event', {
      bridgeId: key,
      first: 1,
      events,
    });
    assert.equal([accepted, durableThrough], [events.length, events.length]);
    const told = events
      .filter((event) => (event as { type: string }).type !== 'prompt')
      .map((event) => ({ ...event, bridgeId: key }));
    assert.equal(
      (emitted as { seq?: number }[]).map(({ seq: _, ...event }) => event),
      told,
    );
  },
  'bridge.list': async (key) => {
    const { bridges } = await call('bridge.list', {});
    const found = bridges.filter(({ bridgeId }) => bridgeId === key);
    assert.equal(
      found.map(({ conversationKey, sessionKey, provider }) => [conversationKey, sessionKey, provider]),
      [[key, key, providerOf(key)]],
    );
  },
  'log.read': async (key, place) => {
    const text = textAt(place);
    const events = await streamOf(key);
    assert.ok(events.every(({ stream }) => stream === `conversation:${key}`));
    const of = (type: string) => events.find((event) => event.type === type)?.data;
    assert.equal([of('bridge_requested')?.cwd, of('bridge_requested')?.model], [key, key]);
    assert.equal([of('turn_started')?.prompt, of('turn_started')?.promptId], [text, key]);
    assert.equal([of('tool_started')?.name, of('tool_started')?.toolCallId], [text, key]);
    assert.equal(of('tool_started')?.args, overTheWire(valueAt(place)));
    assert.equal([of('tool_ended')?.args, of('tool_ended')?.result], [text, overTheWire(valueAt(place))]);
    assert.equal(of('request_opened')?.options, [overTheWire(valueAt(place))]);
    assert.equal(of('request_answered')?.by, text);
    assert.equal(
      (of('usage_updated') as { usage?: { contextBreakdown?: unknown } } | undefined)?.usage
        ?.contextBreakdown,
      overTheWire(valueAt(place)),
    );
    assert.equal(of('turn_ended')?.stopReason, text);
    assert.equal(of('compaction_failed')?.message, text);
  },
  'conversation.load': async (key, place) => {
    const { messages, seq } = await call('conversation.load', { conversationKey: key });
    assert.equal(messages, messagesAt(place));
    assert.equal((await call('conversation.load', { conversationKey: key, at: seq })).messages, messages);
  },
  'conversation.list': async (key, place) => {
    const { conversations } = await call('conversation.list', { prefix: key, limit: 1_000 });
    assert.ok(conversations.every(({ conversationKey }) => conversationKey.startsWith(key)));
    const own = conversations.filter(({ conversationKey }) => conversationKey === key);
    assert.equal(
      own.map(({ messages, provider }) => [messages, provider]),
      [[2, providerOf(key)]],
    );
    const said = await call('conversation.list', {
      provider: providerOf(key),
      text: textAt(place),
      limit: 1_000,
    });
    assert.equal(
      said.conversations.map(({ conversationKey }) => conversationKey),
      [key],
    );
    const none = await call('conversation.list', { prefix: `${key.slice(0, 100).toWellFormed()}\uD800` });
    assert.equal(none.conversations, [], 'no key begins with what no key can hold');
    const after = await call('conversation.list', { after: key, limit: 1_000 });
    assert.ok(
      after.conversations.every(
        ({ conversationKey }) => Buffer.compare(Buffer.from(conversationKey), Buffer.from(key)) > 0,
      ),
    );
  },
  'conversation.replay': async (key, place) => {
    const { events } = await call('conversation.replay', { conversationKey: key, limit: 1_000 });
    assert.equal(
      events.flatMap(({ prompt }) => (prompt === undefined ? [] : [prompt])),
      [textAt(place)],
    );
    assert.ok(
      events.every(({ live }) => live.every((event) => (event as { bridgeId: string }).bridgeId === key)),
    );
  },
  'session.get': async (key, place) => {
    const text = textAt(place);
    assert.equal(await call('session.get', { sessionKey: key }), {
      sessionId: text,
      usage: { contextTokens: place + 1, model: text },
    });
  },
  'bridge.stop': async (key) => {
    await call('bridge.stop', { bridgeId: key });
    assert.is(await codeOf(call('bridge.stop', { bridgeId: key })), 'bridge_not_found');
    assert.is((await streamOf(key)).at(-1)?.type, 'bridge_stopped');
  },
  'conversation.alias': async (key, place) => {
    const to = `alias of ${place}`;
    assert.is((await call('conversation.alias', { from: key, to })).aliased, true);
    assert.equal((await call('conversation.load', { conversationKey: to })).messages, messagesAt(place));
    assert.equal((await call('conversation.alias', { from: to, to: key })).reason, 'exists');
  },
  'bridge.resetSession': async (key) => {
    await call('bridge.resetSession', { sessionKey: key });
    assert.equal(await call('session.get', { sessionKey: key }), {});
  },
  'conversation.clear': async (key) => {
    await call('conversation.clear', { conversationKey: key });
    assert.equal((await call('conversation.load', { conversationKey: key })).messages, []);
  },
  'transcripts.save': async (key, place) => {
    const saved = await call('transcripts.save', { scopeId: key, messages: rowsAt(place) });
    assert.is(saved.changed, true);
    assert.is((await call('transcripts.save', { scopeId: key, messages: rowsAt(place) })).changed, false);
  },
  'transcripts.load': async (key, place) => {
    const { messages } = await call('transcripts.load', { scopeId: key });
    assert.is(JSON.stringify(messages), JSON.stringify(rowsAt(place)));
  },
  'transcripts.saveBatch': async (key, place) => {
    const rows = [...rowsAt(place), { id: 'more', text: key }];
    const { changed, bases } = await call('transcripts.saveBatch', {
      entries: [{ scopeId: key, messages: rows }],
    });
    assert.is(changed, 1);
    assert.ok(Object.keys(bases).every((scopeId) => scopeId === key));
  },
  'transcripts.loadAll': async (key, place) => {
    const found = new Map<string, unknown[]>();
    for (let after: string | undefined; ; ) {
      const page = await call('transcripts.loadAll', { limit: 7, ...(after !== undefined && { after }) });
      for (const [scopeId, rows] of Object.entries(page.transcripts)) found.set(scopeId, rows);
      after = page.next;
      if (after === undefined) break;
    }
    assert.is(found.size, KEYS.length);
    assert.is(JSON.stringify(found.get(key)), JSON.stringify([...rowsAt(place), { id: 'more', text: key }]));
  },
  'transcripts.mtimes': async (key) => {
    const { times } = await call('transcripts.mtimes', {});
    assert.is(Object.keys(times).length, KEYS.length);
    assert.ok(Object.hasOwn(times, key));
  },
  'transcripts.remove': async (key, place) => {
    if (place % 2 === 0) return;
    await call('transcripts.remove', { scopeId: key });
    assert.equal((await call('transcripts.load', { scopeId: key })).messages, []);
  },
  'token.create': async (_key, place) => {
    const name = textAt(place).slice(0, 200);
    const { id, token } = await call('token.create', { name });
    const { tokens } = await call('token.list', {});
    assert.equal(tokens.find((known) => known.id === id)?.name, name);
    assert.match(token, /^[\w-]+$/);
    await call('token.revoke', { id });
  },
  'token.list': async () => {
    assert.equal((await call('token.list', {})).tokens, []);
  },
  'token.revoke': async (key) => {
    assert.is(await codeOf(call('token.revoke', { id: key })), 'token_not_found');
  },
  'migration.run': async (key) => {
    const directory = key.slice(0, 1_000);
    assert.is(
      await codeOf(call('migration.run', { directory: `${host.dataDirectory}/none/${directory}` })),
      'invalid_argument',
    );
  },
  'migration.import': async (key, place) => {
    const item = {
      kind: 'conversation' as const,
      id: `migrate:${'0'.repeat(64)}`,
      key,
      messages: messagesAt(place),
    };
    assert.is(
      await codeOf(call('migration.import', { items: [item] })),
      'invalid_argument',
      'an id of its own',
    );
  },
  'migration.readBack': async (key) => {
    const { digests } = await call('migration.readBack', {
      subjects: [
        { kind: 'transcript', key },
        { kind: 'session', key: `never ${key}`.slice(0, 500) },
      ],
    });
    assert.is(digests.length, 2);
  },
  'migration.complete': async (key, place) => {
    await call('migration.complete', {
      source: key,
      fingerprint: `f${place}`,
      counts: { found: place },
    });
    const { events } = await call('log.read', {
      from: 1,
      stream: `migration:${key}`,
      type: 'migration_completed',
    });
    const data = (events as Envelope<string, { source: string; counts: object }>[])[0]?.data;
    assert.equal([data?.source, data?.counts], [key, { found: place }]);
  },
  'log.verify': async (key, place) => {
    if (place > 0) return;
    assert.equal((await call('log.verify', {})).problems, [], key);
  },
  'projections.status': async (_key, place) => {
    if (place > 0) return;
    const { projections } = await call('projections.status', {});
    assert.ok(projections.every(({ error }) => error === undefined));
  },
  'projections.flush': async (_key, place) => {
    if (place === 0) await call('projections.flush', {});
  },
  'projections.rebuild': async (key, place) => {
    assert.is(await codeOf(call('projections.rebuild', { only: [key], check: true })), 'invalid_argument');
    if (place > 0) return;
    const { projections } = await call('projections.rebuild', { check: true });
    assert.ok(
      projections.every(({ equal }) => equal),
      JSON.stringify(projections.flatMap(({ differences = [] }) => differences)),
    );
  },
  'daemon.status': async (_key, place) => {
    if (place > 0) return;
    assert.is((await call('daemon.status', {})).state, 'ready');
  },
};

test('hostile: every operation of the registry has its trial', () => {
  assert.equal(Object.keys(TRIALS).sort(), Object.keys(operations).sort());
});

for (const [operation, trial] of Object.entries(TRIALS)) {
  test(`hostile: ${operation} gives back what went in`, async () => {
    for (const { key, place } of KEYS) {
      await trial(key, place).catch((error: Error) => {
        error.message = `${JSON.stringify(key).slice(0, 100)}: ${error.message}`;
        throw error;
      });
    }
  });
}

test.run();
