import { assertEventData, JsonText } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { MigrationItem } from './items.ts';
import { planMigration } from './plan.ts';
import type { StoredConversation, UserData } from './user-data.ts';

const conversation = (conversationKey: string, content = 'hello'): StoredConversation => ({
  conversationKey,
  messages: [{ role: 'user', content }],
  setAside: [],
});

const userData = (given: Partial<UserData>): UserData => ({
  cleared: { keys: [], unknownEntry: false },
  shards: [],
  monolith: [],
  sessions: [],
  transcripts: [],
  problems: [],
  unread: [],
  ...given,
});

const keysOf = (items: MigrationItem[], kind: string) =>
  items.filter((item) => item.kind === kind).map(({ key }) => key);

test('plan: a shard wins over the monolith, which fills in what has no shard', () => {
  const plan = planMigration(
    userData({
      monolith: [conversation('a', 'old'), conversation('b', 'old')],
      shards: [conversation('a', 'new')],
    }),
  );
  const messages = plan.items.map((item) => (item.kind === 'conversation' ? item.event.data.messages : []));
  assert.equal(messages, [[{ role: 'user', content: 'new' }], [{ role: 'user', content: 'old' }]]);
  assert.equal(plan.fromMonolith, ['b']);
});

test('plan: what was cleared does not come in, whatever was left behind, and is cleared first', () => {
  const plan = planMigration(
    userData({
      cleared: { keys: ['a', 'unheard of'], unknownEntry: false },
      monolith: [conversation('a'), conversation('b')],
      shards: [conversation('a')],
    }),
  );
  assert.equal(
    plan.items.map(({ kind, key }) => [kind, key]),
    [
      ['cleared', 'a'],
      ['cleared', 'unheard of'],
      ['conversation', 'b'],
    ],
  );
});

test('plan: a cut entry covers every known key that begins with it, and the event says so', () => {
  const plan = planMigration(
    userData({
      cleared: { keys: ['thread:a'], cut: 'thread:b', unknownEntry: false },
      monolith: ['thread:a', 'thread:b', 'thread:bc', 'thread:c'].map((key) => conversation(key)),
      shards: [conversation('thread:bd')],
    }),
  );
  assert.equal(keysOf(plan.items, 'conversation'), ['thread:c']);
  assert.equal(
    plan.items.flatMap((item) => (item.kind === 'cleared' ? [[item.key, item.event.data.torn]] : [])),
    [
      ['thread:a', undefined],
      ['thread:b', 'thread:b'],
      ['thread:bc', 'thread:b'],
      ['thread:bd', 'thread:b'],
    ],
  );
});

test('plan: where an entry may be any key, what only the monolith has is set aside', () => {
  const plan = planMigration(
    userData({
      cleared: { keys: ['a'], unknownEntry: true },
      monolith: ['a', 'b', 'c'].map((key) => conversation(key)),
      shards: [conversation('b')],
    }),
  );
  assert.equal(keysOf(plan.items, 'conversation'), ['b']);
  assert.equal(keysOf(plan.items, 'cleared'), ['a']);
  assert.equal(
    plan.setAside.conversations.map(({ conversationKey }) => conversationKey),
    ['c'],
  );
  assert.is(plan.incomplete.length, 1);
});

test('plan: items are events that the catalogue knows', () => {
  const plan = planMigration(
    userData({
      cleared: { keys: ['c'], cut: 'd', unknownEntry: false },
      shards: [
        { ...conversation('a'), setAside: [{ place: 1, row: JsonText.of({ role: 'system' }) }] },
        conversation('dd'),
      ],
      sessions: [
        { sessionKey: 's', sessionId: 'id' },
        { sessionKey: 't', usage: { contextTokens: 1 } },
      ],
      transcripts: [
        { scopeId: 'x', rows: [JsonText.of({ a: 1 }), JsonText.of({ a: 1 })] },
        { scopeId: 'y', rows: [] },
      ],
    }),
  );
  for (const { event } of plan.items) assertEventData(event.type, event.data);
  assert.equal(plan.counts, {
    cleared: 2,
    conversations: 1,
    messages: 1,
    sessions: 2,
    transcripts: 2,
    rows: 2,
  });
  assert.equal(plan.setAside.rows, [{ conversationKey: 'a', count: 1 }]);
});

test('plan: ids and the fingerprint follow the content and nothing else', () => {
  const given = userData({ monolith: [conversation('a'), conversation('b')] });
  const one = planMigration(given);
  const other = planMigration(
    userData({
      shards: [conversation('b'), conversation('a')],
      problems: [{ file: 'agent-sessions.json', reason: 'is empty' }],
    }),
  );
  assert.equal(
    one.items.map(({ event }) => event.id).sort(),
    other.items.map(({ event }) => event.id).sort(),
  );
  assert.is(one.fingerprint, other.fingerprint);
  assert.ok(one.items.every(({ event }) => /^migrate:[0-9a-f]{64}$/.test(event.id)));

  const changed = planMigration(userData({ monolith: [conversation('a'), conversation('b', '\ud800')] }));
  const alike = planMigration(userData({ monolith: [conversation('a'), conversation('b', '\ufffd')] }));
  assert.is(new Set([one, changed, alike].map(({ fingerprint }) => fingerprint)).size, 3);
});

test.run();
