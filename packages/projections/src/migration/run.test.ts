import { JsonText, streamOf } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileDigestOf } from '../file-digest.ts';
import { MemoryMigrationStore } from '../testing/memory-migration-store.ts';
import { MemoryUserData } from '../testing/memory-user-data.ts';
import { planMigration } from './plan.ts';
import { readUserData } from './read-user-data.ts';
import { runMigration } from './run.ts';
import { storeTarget } from './store-target.ts';

const shardOf = (key: string) => `conversations/agent-conversations.${fileDigestOf(key)}.json`;
const user = (content: string) => ({ role: 'user' as const, content });
const assistant = (content: string) => ({ role: 'assistant' as const, content });

const legacy = {
  conversations: {
    'tab-1:ollama': [user('old question'), assistant('old answer')],
    'tab-2:openrouter': [user('keep me')],
  },
};
const everything = {
  'agent-conversations.json': legacy,
  'conversations/.agent-conversations-cleared.json': ['tab-0:pi'],
  'agent-sessions.json': { sessions: { 's:claude': 'uuid' }, usage: { 's:claude': { contextTokens: 5 } } },
  'transcripts/transcript.0123456789abcdef01234567.json': {
    scopeId: 'x',
    messages: [{ kind: 'user' }, { kind: 'user' }],
  },
};

const planOf = async (files: Record<string, string | object>) =>
  planMigration(await readUserData(new MemoryUserData(files), '/data'));

const typesOf = (store: StoreEvents) => store.events.map(({ type }) => type);
type StoreEvents = Pick<MemoryMigrationStore, 'events'>;

test('migration: brings in everything, reads it back and says so once', async () => {
  const store = new MemoryMigrationStore();
  const plan = await planOf(everything);
  const progress: string[] = [];
  const report = await runMigration(plan, storeTarget(store), {
    onProgress: ({ phase, done, total }) => progress.push(`${phase} ${done}/${total}`),
  });
  assert.is(report.completed, 'now');
  assert.is(report.exitCode, 0);
  assert.is(typesOf(store)[0], 'conversation_cleared');
  assert.is(typesOf(store).at(-1), 'migration_completed');
  assert.is(store.events.length, plan.items.length + 1);
  assert.equal(await store.loadConversation('tab-1:ollama'), legacy.conversations['tab-1:ollama']);
  assert.ok(await store.isCleared('tab-0:pi'));
  assert.ok(progress.includes('bringing in 5/5') && progress.includes('reading back 5/5'));
  assert.equal(JSON.parse(JSON.stringify(report)), report);
});

test('migration: a second run changes nothing', async () => {
  const store = new MemoryMigrationStore();
  const plan = await planOf(everything);
  await runMigration(plan, storeTarget(store));
  const before = structuredClone(store.events.map(({ id }) => id));
  const report = await runMigration(plan, storeTarget(store));
  assert.is(report.completed, 'before');
  assert.is(report.outcomes.conversation.alreadyThere, 2);
  assert.equal(
    store.events.map(({ id }) => id),
    before,
  );
});

test('migration: a dry run looks and appends nothing', async () => {
  const store = new MemoryMigrationStore();
  const report = await runMigration(await planOf(everything), storeTarget(store), { dryRun: true });
  assert.equal(store.events, []);
  assert.is(report.dryRun, true);
  assert.is(report.completed, 'no');
  assert.is(report.outcomes.conversation.broughtIn, 2);
});

test('migration: a torn monolith is reported and nothing is said to be complete', async () => {
  const store = new MemoryMigrationStore();
  const plan = await planOf({
    'agent-conversations.json': '{"conversations": {"tab-1:ollama": [{"role": "user", "content": "old q',
    [shardOf('a')]: { conversations: { a: [user('from its shard')] } },
  });
  const report = await runMigration(plan, storeTarget(store));
  assert.equal(
    report.problems.map(({ file }) => file),
    ['agent-conversations.json'],
  );
  assert.is(report.completed, 'no');
  assert.is(report.exitCode, 2);
  assert.equal(typesOf(store), ['conversation_imported']);
});

test('migration: interrupted after any event, it goes on where it stopped', async () => {
  const plan = await planOf(everything);
  for (let eventsMax = 0; eventsMax <= plan.items.length; eventsMax += 1) {
    const store = new MemoryMigrationStore();
    store.eventsMax = eventsMax;
    try {
      await runMigration(plan, storeTarget(store));
      assert.unreachable();
    } catch (error) {
      assert.match((error as Error).message, 'the store went away');
    }
    assert.is(store.events.length, eventsMax);
    assert.not.ok(typesOf(store).includes('migration_completed'));
    store.eventsMax = Number.POSITIVE_INFINITY;
    const resumed = await runMigration(plan, storeTarget(store));
    const again = await runMigration(plan, storeTarget(store));
    assert.is(resumed.completed, 'now');
    assert.is(again.completed, 'before');
    assert.is(store.events.length, plan.items.length + 1);
    assert.is(new Set(store.events.map(({ id }) => id)).size, store.events.length);
    assert.equal(await store.loadConversation('tab-1:ollama'), legacy.conversations['tab-1:ollama']);
  }
});

test('migration: the newer shard wins and a lost one comes from the monolith', async () => {
  const store = new MemoryMigrationStore();
  const plan = await planOf({
    'agent-conversations.json': legacy,
    'conversations/.agent-conversations-migrated': '{}',
    [shardOf('tab-1:ollama')]: { sessionId: 'tab-1:ollama', messages: [user('newer than legacy')] },
  });
  await runMigration(plan, storeTarget(store));
  assert.equal(await store.loadConversation('tab-1:ollama'), [user('newer than legacy')]);
  assert.equal(await store.loadConversation('tab-2:openrouter'), [user('keep me')]);
});

test('migration: shards of every bad shape are reported one by one, and the good rows come in', async () => {
  const store = new MemoryMigrationStore();
  const plan = await planOf({
    [shardOf('a')]: 'null',
    [shardOf('b')]: '',
    [shardOf('c')]: { conversations: { 'not-c': [user('x')] } },
    [shardOf('d')]: {
      sessionId: 'd',
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: [{ type: 'text', text: 'array content' }] },
        user('ok'),
      ],
    },
    'agent-sessions.json': {
      sessions: { 'tab-1:claude': 'uuid-1' },
      usage: {
        'tab-1:claude': { contextTokens: -5 },
        'tab-9:gone': { contextTokens: 120000.7, contextWindow: 200000, model: 'm' },
      },
    },
  });
  const report = await runMigration(plan, storeTarget(store));
  assert.equal(report.problems.map(({ file, key }) => key ?? file).sort(), [
    ...[shardOf('b'), shardOf('a')].sort(),
    'not-c',
    'tab-1:claude',
  ]);
  assert.is(report.exitCode, 2);
  assert.is(report.completed, 'now');
  assert.equal(await store.loadConversation('d'), [user('ok')]);
  assert.is(await store.loadConversation('not-c'), undefined);
  assert.equal(report.setAside.rows, [{ conversationKey: 'd', count: 2 }]);
  assert.equal(await store.getSession('tab-1:claude'), { sessionId: 'uuid-1' });
  assert.equal(await store.getSession('tab-9:gone'), {
    usage: { contextTokens: 120000, contextWindow: 200000, model: 'm' },
  });
});

test('migration: what the log has already stays as it is', async () => {
  const store = new MemoryMigrationStore();
  const transcript = (row: object) => ({
    scopeId: 'x',
    rows: [{ rowId: 1, after: 0, row: JsonText.of(row) }],
    removed: [],
  });
  store.appendNow(streamOf.conversation('tab-1:ollama'), [
    { type: 'conversation_cleared', data: { conversationKey: 'tab-1:ollama', reason: 'requested' } },
  ]);
  store.appendNow(streamOf.conversation('tab-0:pi'), [
    {
      type: 'conversation_imported',
      data: { conversationKey: 'tab-0:pi', source: 'other', messages: [user('mine')] },
    },
  ]);
  store.appendNow(streamOf.conversation('tab-2:openrouter'), [
    {
      type: 'conversation_imported',
      data: { conversationKey: 'tab-2:openrouter', source: 'other', messages: [user('keep me')] },
    },
  ]);
  store.appendNow(streamOf.transcript('x'), [
    { type: 'transcript_saved', data: transcript({ kind: 'old' }) },
  ]);
  store.appendNow(streamOf.transcript('x'), [{ type: 'transcript_removed', data: { scopeId: 'x' } }]);
  const before = store.events.length;

  const report = await runMigration(await planOf(everything), storeTarget(store));
  assert.is(report.completed, 'now');
  assert.is(report.exitCode, 0);
  assert.equal(
    report.kept.map(({ kind, key }) => [kind, key]),
    [
      ['cleared', 'tab-0:pi'],
      ['conversation', 'tab-1:ollama'],
      ['transcript', 'x'],
    ],
  );
  assert.equal(typesOf(store).slice(before), ['session_imported', 'migration_completed']);
  assert.equal(await store.loadConversation('tab-0:pi'), [user('mine')]);
  assert.is(await store.loadTranscript('x'), undefined);
});

test('migration: what was taken away in the log since an interrupted run stays away', async () => {
  const store = new MemoryMigrationStore();
  const plan = await planOf(everything);
  store.eventsMax = plan.items.length;
  await runMigration(plan, storeTarget(store)).catch(() => {});
  store.eventsMax = Number.POSITIVE_INFINITY;
  store.appendNow(streamOf.conversation('s'), [
    { type: 'session_reset', data: { sessionKey: 's:claude', conversationKey: 's', reason: 'requested' } },
  ]);
  store.appendNow(streamOf.transcript('x'), [{ type: 'transcript_removed', data: { scopeId: 'x' } }]);
  const report = await runMigration(plan, storeTarget(store));
  assert.equal(
    report.kept.map(({ kind }) => kind),
    ['session', 'transcript'],
  );
  assert.is(report.completed, 'now');
  assert.equal(await store.getSession('s:claude'), {});
  assert.is(await store.loadTranscript('x'), undefined);
});

test('migration: an append that another one comes before is decided anew', async () => {
  const store = new MemoryMigrationStore();
  const stream = streamOf.conversation('tab-2:openrouter');
  store.beforeAppend = (appended) => {
    if (appended !== stream) return;
    store.beforeAppend = () => {};
    store.appendNow(stream, [
      { type: 'conversation_cleared', data: { conversationKey: 'tab-2:openrouter', reason: 'requested' } },
    ]);
  };
  const report = await runMigration(await planOf(everything), storeTarget(store));
  assert.equal(
    report.kept.map(({ key }) => key),
    ['tab-2:openrouter'],
  );
  assert.ok(await store.isCleared('tab-2:openrouter'));
});

/** Folds one conversation wrongly. */
class LossyStore extends MemoryMigrationStore {
  override async loadConversation(key: string) {
    const messages = await super.loadConversation(key);
    return key === 'tab-1:ollama' ? messages?.slice(1) : messages;
  }
}

test('migration: what is read back unequal is a failure, in every run', async () => {
  const store = new LossyStore();
  const plan = await planOf(everything);
  for (let run = 1; run <= 2; run += 1) {
    const report = await runMigration(plan, storeTarget(store));
    assert.is(report.completed, 'no');
    assert.is(report.exitCode, 2);
    assert.equal(
      report.failed.map(({ key }) => key),
      ['tab-1:ollama'],
    );
  }
  assert.not.ok(typesOf(store).includes('migration_completed'));
});

test('migration: an item that the log refuses does not keep the others out', async () => {
  const store = new MemoryMigrationStore();
  const plan = await planOf(everything);
  const refused = plan.items.find(({ key }) => key === 'tab-1:ollama');
  if (refused?.kind !== 'conversation') throw new Error('there is such a conversation');
  (refused.event.data as { source: unknown }).source = 7;
  const report = await runMigration(plan, storeTarget(store));
  assert.equal(
    report.failed.map(({ key }) => key),
    ['tab-1:ollama'],
  );
  assert.is(report.completed, 'no');
  assert.equal(await store.loadConversation('tab-2:openrouter'), [user('keep me')]);
});

test.run();
