import {
  checkParameters,
  type OperationName,
  type OperationParameters,
  type OperationResult,
  operations,
  TurnlogError,
} from '@turnlog/events';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DaemonError } from '../errors.ts';
import { boundaryOf } from './boundary.ts';
import { LOCAL_CALLER } from './caller.ts';
import { webBoundary } from './web-boundary.ts';

const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const hostile = fc.oneof(
  key,
  fc.constantFrom('thread:s', 'web:s', 'web:', '__proto__', '../../etc/passwd', 's:codex', ':', 'a\0b'),
);

function enter<Name extends OperationName>(
  name: Name,
  parameters: OperationParameters<Name>,
): OperationParameters<Name> {
  return webBoundary.enter(name, parameters);
}

function codeOf(task: () => unknown): string {
  try {
    task();
    return 'none';
  } catch (error) {
    return error instanceof TurnlogError ? error.code : String(error);
  }
}

const FORBIDDEN: OperationName[] = [
  'log.read',
  'log.verify',
  'projections.status',
  'projections.flush',
  'projections.rebuild',
  'daemon.status',
  'migration.run',
  'migration.import',
  'migration.readBack',
  'migration.complete',
  'token.create',
  'token.list',
  'token.revoke',
];

test('web boundary: what is not about conversations or transcripts is forbidden', () => {
  for (const name of FORBIDDEN)
    assert.is(
      codeOf(() => enter(name, {} as never)),
      'forbidden',
      name,
    );
  assert.is(
    codeOf(() => webBoundary.follow('log.subscribe', { from: 1 })),
    'forbidden',
  );
});

/** For each operation that a web token opens: its parameters for a session, as they may name nothing else. */
const NAMED: { [Name in OperationName]?: (session: string) => OperationParameters<Name> } = {
  'bridge.record': (session) => ({ bridgeId: 'b', provider: 'codex', conversationKey: session }),
  'conversation.load': (session) => ({ conversationKey: session }),
  'conversation.replay': (session) => ({ conversationKey: session }),
  'conversation.clear': (session) => ({ conversationKey: session }),
  'conversation.alias': (session) => ({ from: session, to: session }),
  'conversation.list': (session) => ({ prefix: session, after: session }),
  'bridge.resetSession': (session) => ({ conversationKey: session, sessionKey: `${session}:codex` }),
  'transcripts.save': (session) => ({ scopeId: session, messages: [] }),
  'transcripts.saveBatch': (session) => ({ entries: [{ scopeId: session, messages: [] }] }),
  'transcripts.load': (session) => ({ scopeId: session }),
  'transcripts.remove': (session) => ({ scopeId: session }),
  'transcripts.loadAll': (session) => ({ after: session }),
};
const KEYS = new Set(['conversationKey', 'from', 'to', 'scopeId', 'prefix', 'after']);

/** Every key that parameters name. */
function keysIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, inner]) =>
    KEYS.has(field) && typeof inner === 'string' ? [inner] : keysIn(inner),
  );
}

test('web boundary: every operation that names a key was looked at', () => {
  const elsewhere = new Set<OperationName>([
    ...FORBIDDEN,
    'bridge.event',
    'bridge.list',
    'bridge.stop',
    'session.get',
    'transcripts.mtimes',
  ]);
  for (const name of Object.keys(operations) as OperationName[]) {
    assert.is(Object.hasOwn(NAMED, name) !== elsewhere.has(name), true, name);
  }
});

test('web boundary: whatever a caller names, the key begins with web: and holds all of it', () => {
  fc.assert(
    fc.property(hostile, (session) => {
      for (const [name, parametersOf] of Object.entries(NAMED)) {
        const given = parametersOf(session) as OperationParameters<OperationName>;
        const entered = enter(name as OperationName, given);
        checkParameters(name as OperationName, entered);
        const keys = keysIn(entered);
        assert.ok(keys.length > 0, name);
        for (const each of keys) assert.is(each, `web:${session}`, name);
      }
      const live = webBoundary.follow('live.subscribe', { conversationKey: session, bridgeId: 'b' });
      assert.equal(live, { conversationKey: `web:${session}`, bridgeId: 'b' });
    }),
  );
});

test('web boundary: without a key nothing of others is opened', () => {
  assert.equal(enter('conversation.list', {}), { prefix: 'web:' });
  assert.equal(enter('transcripts.loadAll', {}), { after: 'web:' });
  assert.is(
    codeOf(() => enter('bridge.record', { bridgeId: 'b', provider: 'codex' })),
    'invalid_argument',
  );
  assert.is(
    codeOf(() => webBoundary.follow('live.subscribe', {})),
    'invalid_argument',
  );
  assert.is(
    codeOf(() => webBoundary.follow('live.subscribe', { bridgeId: 'b' })),
    'invalid_argument',
  );
});

test('web boundary: a bridge speaks for the session of its own conversation and for no other', () => {
  const record = { bridgeId: 'b', provider: 'codex', conversationKey: 's' };
  assert.equal(enter('bridge.record', { ...record, sessionKey: 's:codex' }).sessionKey, 's:codex');
  for (const sessionKey of ['s:claude', 'other:codex', 'web:s:codex', 'thread:s:codex', 'codex']) {
    const code = codeOf(() => enter('bridge.record', { ...record, sessionKey }));
    assert.is(code, 'conversation_not_found', sessionKey);
  }
});

test('web boundary: a session is reset with the conversation that it is of', () => {
  const reset = (sessionKey: string, conversationKey?: string) =>
    codeOf(() =>
      enter('bridge.resetSession', { sessionKey, ...(conversationKey !== undefined && { conversationKey }) }),
    );
  assert.is(reset('s:codex', 's'), 'none');
  assert.is(reset('a:b:plugin:x:y', 'a:b'), 'none');
  assert.is(reset('s:codex', 't'), 'conversation_not_found');
  assert.is(reset('s:nobody', 's'), 'conversation_not_found');
  assert.is(reset('s:codex'), 'none');
  assert.is(reset('no session'), 'conversation_not_found');
  assert.is(reset(':codex'), 'conversation_not_found');
});

test('web boundary: of a result only what begins with web: is left, and is called by the rest of its key', () => {
  const bridge = { bridgeId: 'b', provider: 'codex', mode: 'recorded', state: 'idle', since: 1 };
  const list: OperationResult<'bridge.list'> = {
    bridges: [
      { ...bridge, conversationKey: 'thread:s' },
      { ...bridge, conversationKey: 'web:s' },
      { ...bridge, conversationKey: 'web:' },
      { ...bridge, conversationKey: 'website' },
      bridge,
    ],
  };
  assert.equal(webBoundary.leave('bridge.list', list), { bridges: [{ ...bridge, conversationKey: 's' }] });
  const byScope = Object.fromEntries(
    ['thread:s', 'web:s', 'web:__proto__', '__proto__', 'web:', 'web'].map((scope) => [scope, 1]),
  );
  const own = Object.fromEntries([
    ['s', 1],
    ['__proto__', 1],
  ]);
  assert.equal(
    Object.entries(webBoundary.leave('transcripts.mtimes', { times: byScope }).times),
    Object.entries(own),
  );
  const batch = webBoundary.leave('transcripts.saveBatch', { seq: 1, changed: 1, bases: { 'web:s': 1 } });
  assert.equal(batch, { seq: 1, changed: 1, bases: { s: 1 } });
});

test('web boundary: a page of transcripts ends where those of others begin', () => {
  const page = (next?: string) => ({
    transcripts: { 'web:a': [], 'web:b': [], xyz: ['secret'] },
    seq: 1,
    ...(next !== undefined && { next }),
  });
  assert.equal(webBoundary.leave('transcripts.loadAll', page('xyz')), {
    transcripts: { a: [], b: [] },
    seq: 1,
  });
  assert.is(webBoundary.leave('transcripts.loadAll', page('web:b')).next, 'b');
});

test('web boundary: an error names what the caller named, and a fault says nothing of the inside', () => {
  const notFound = new DaemonError('conversation_not_found', 'none', {
    conversationKey: 'web:s',
    stream: 'conversation:web:s',
  });
  assert.equal((webBoundary.refuse(notFound) as DaemonError).details, { conversationKey: 's' });
  const damaged = new DaemonError('store_damaged', 'thread:secret is lost', { stream: 'thread:secret' });
  assert.not.match(JSON.stringify((webBoundary.refuse(damaged) as DaemonError).toBody()), 'secret');
});

test('boundary: who has the data directory is not held by anything', () => {
  const boundary = boundaryOf(LOCAL_CALLER);
  const parameters = { conversationKey: 'thread:s' };
  assert.is(boundary.enter('conversation.load', parameters), parameters);
  assert.is(boundary.follow('log.subscribe', { from: 1 }).from, 1);
});

test.run();
