import { JsonText, streamOf } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryMigrationTarget } from '../testing/memory-migration-target.ts';
import { MemoryUserData } from '../testing/memory-user-data.ts';
import { planMigration } from './plan.ts';
import { fileDigestOf } from './read-file.ts';
import { readUserData } from './read-user-data.ts';
import { runMigration } from './run.ts';

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

const typesOf = (target: MigrationTargetEvents) => target.events.map(({ type }) => type);
type MigrationTargetEvents = Pick<MemoryMigrationTarget, 'events'>;

test('migration: brings in everything, reads it back and says so once', async () => {
  const target = new MemoryMigrationTarget();
  const plan = await planOf(everything);
  const progress: string[] = [];
  const report = await runMigration(plan, target, {
    onProgress: ({ phase, done, total }) => progress.push(`${phase} ${done}/${total}`),
  });
  assert.is(report.completed, 'now');
  assert.is(report.exitCode, 0);
  assert.is(typesOf(target)[0], 'conversation_cleared');
  assert.is(typesOf(target).at(-1), 'migration_completed');
  assert.is(target.events.length, plan.items.length + 1);
  assert.equal(await target.loadConversation('tab-1:ollama'), legacy.conversations['tab-1:ollama']);
  assert.ok(await target.isCleared('tab-0:pi'));
  assert.ok(progress.includes('bringing in 5/5') && progress.includes('reading back 5/5'));
  assert.equal(JSON.parse(JSON.stringify(report)), report);
});

test('migration: a second run changes nothing', async () => {
  const target = new MemoryMigrationTarget();
  const plan = await planOf(everything);
  await runMigration(plan, target);
  const before = structuredClone(target.events.map(({ id }) => id));
  const report = await runMigration(plan, target);
  assert.is(report.completed, 'before');
  assert.is(report.outcomes.conversation.alreadyThere, 2);
  assert.equal(
    target.events.map(({ id }) => id),
    before,
  );
});

test('migration: a dry run looks and appends nothing', async () => {
  const target = new MemoryMigrationTarget();
  const report = await runMigration(await planOf(everything), target, { dryRun: true });
  assert.equal(target.events, []);
  assert.is(report.dryRun, true);
  assert.is(report.completed, 'no');
  assert.is(report.outcomes.conversation.broughtIn, 2);
});

test('migration: a torn monolith is reported and nothing is said to be complete', async () => {
  const target = new MemoryMigrationTarget();
  const plan = await planOf({
    'agent-conversations.json': '{"conversations": {"tab-1:ollama": [{"role": "user", "content": "old q',
    [shardOf('a')]: { conversations: { a: [user('from its shard')] } },
  });
  const report = await runMigration(plan, target);
  assert.equal(
    report.problems.map(({ file }) => file),
    ['agent-conversations.json'],
  );
  assert.is(report.completed, 'no');
  assert.is(report.exitCode, 2);
  assert.equal(typesOf(target), ['conversation_imported']);
});

test('migration: interrupted after any event, it goes on where it stopped', async () => {
  const plan = await planOf(everything);
  for (let eventsMax = 0; eventsMax <= plan.items.length; eventsMax += 1) {
    const target = new MemoryMigrationTarget();
    target.eventsMax = eventsMax;
    try {
      await runMigration(plan, target);
      assert.unreachable();
    } catch (error) {
      assert.match((error as Error).message, 'the store went away');
    }
    assert.is(target.events.length, eventsMax);
    assert.not.ok(typesOf(target).includes('migration_completed'));
    target.eventsMax = Number.POSITIVE_INFINITY;
    const resumed = await runMigration(plan, target);
    const again = await runMigration(plan, target);
    assert.is(resumed.completed, 'now');
    assert.is(again.completed, 'before');
    assert.is(target.events.length, plan.items.length + 1);
    assert.is(new Set(target.events.map(({ id }) => id)).size, target.events.length);
    assert.equal(await target.loadConversation('tab-1:ollama'), legacy.conversations['tab-1:ollama']);
  }
});

test('migration: the newer shard wins and a lost one comes from the monolith', async () => {
  const target = new MemoryMigrationTarget();
  const plan = await planOf({
    'agent-conversations.json': legacy,
    'conversations/.agent-conversations-migrated': '{}',
    [shardOf('tab-1:ollama')]: { sessionId: 'tab-1:ollama', messages: [user('newer than legacy')] },
  });
  await runMigration(plan, target);
  assert.equal(await target.loadConversation('tab-1:ollama'), [user('newer than legacy')]);
  assert.equal(await target.loadConversation('tab-2:openrouter'), [user('keep me')]);
});

test('migration: shards of every bad shape are reported one by one, and the good rows come in', async () => {
  const target = new MemoryMigrationTarget();
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
  const report = await runMigration(plan, target);
  assert.equal(report.problems.map(({ file, key }) => key ?? file).sort(), [
    ...[shardOf('b'), shardOf('a')].sort(),
    'not-c',
    'tab-1:claude',
  ]);
  assert.is(report.exitCode, 2);
  assert.is(report.completed, 'now');
  assert.equal(await target.loadConversation('d'), [user('ok')]);
  assert.is(await target.loadConversation('not-c'), undefined);
  assert.equal(report.setAside.rows, [{ conversationKey: 'd', count: 2 }]);
  assert.equal(await target.getSession('tab-1:claude'), { sessionId: 'uuid-1' });
  assert.equal(await target.getSession('tab-9:gone'), {
    usage: { contextTokens: 120000, contextWindow: 200000, model: 'm' },
  });
});

test('migration: what the log has already stays as it is', async () => {
  const target = new MemoryMigrationTarget();
  const transcript = (row: object) => ({
    scopeId: 'x',
    rows: [{ rowId: 1, after: 0, row: JsonText.of(row) }],
    removed: [],
  });
  target.appendNow(streamOf.conversation('tab-1:ollama'), [
    { type: 'conversation_cleared', data: { conversationKey: 'tab-1:ollama', reason: 'requested' } },
  ]);
  target.appendNow(streamOf.conversation('tab-0:pi'), [
    {
      type: 'conversation_imported',
      data: { conversationKey: 'tab-0:pi', source: 'other', messages: [user('mine')] },
    },
  ]);
  target.appendNow(streamOf.conversation('tab-2:openrouter'), [
    {
      type: 'conversation_imported',
      data: { conversationKey: 'tab-2:openrouter', source: 'other', messages: [user('keep me')] },
    },
  ]);
  target.appendNow(streamOf.transcript('x'), [
    { type: 'transcript_saved', data: transcript({ kind: 'old' }) },
  ]);
  target.appendNow(streamOf.transcript('x'), [{ type: 'transcript_removed', data: { scopeId: 'x' } }]);
  const before = target.events.length;

  const report = await runMigration(await planOf(everything), target);
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
  assert.equal(typesOf(target).slice(before), ['session_imported', 'migration_completed']);
  assert.equal(await target.loadConversation('tab-0:pi'), [user('mine')]);
  assert.is(await target.loadTranscript('x'), undefined);
});

test('migration: what was taken away in the log since an interrupted run stays away', async () => {
  const target = new MemoryMigrationTarget();
  const plan = await planOf(everything);
  target.eventsMax = plan.items.length;
  await runMigration(plan, target).catch(() => {});
  target.eventsMax = Number.POSITIVE_INFINITY;
  target.appendNow(streamOf.conversation('s'), [
    { type: 'session_reset', data: { sessionKey: 's:claude', conversationKey: 's', reason: 'requested' } },
  ]);
  target.appendNow(streamOf.transcript('x'), [{ type: 'transcript_removed', data: { scopeId: 'x' } }]);
  const report = await runMigration(plan, target);
  assert.equal(
    report.kept.map(({ kind }) => kind),
    ['session', 'transcript'],
  );
  assert.is(report.completed, 'now');
  assert.equal(await target.getSession('s:claude'), {});
  assert.is(await target.loadTranscript('x'), undefined);
});

test('migration: an append that another one comes before is decided anew', async () => {
  const target = new MemoryMigrationTarget();
  const stream = streamOf.conversation('tab-2:openrouter');
  target.beforeAppend = (appended) => {
    if (appended !== stream) return;
    target.beforeAppend = () => {};
    target.appendNow(stream, [
      { type: 'conversation_cleared', data: { conversationKey: 'tab-2:openrouter', reason: 'requested' } },
    ]);
  };
  const report = await runMigration(await planOf(everything), target);
  assert.equal(
    report.kept.map(({ key }) => key),
    ['tab-2:openrouter'],
  );
  assert.ok(await target.isCleared('tab-2:openrouter'));
});

/** Folds one conversation wrongly. */
class LossyTarget extends MemoryMigrationTarget {
  override async loadConversation(key: string) {
    const messages = await super.loadConversation(key);
    return key === 'tab-1:ollama' ? messages?.slice(1) : messages;
  }
}

test('migration: what is read back unequal is a failure, in every run', async () => {
  const target = new LossyTarget();
  const plan = await planOf(everything);
  for (let run = 1; run <= 2; run += 1) {
    const report = await runMigration(plan, target);
    assert.is(report.completed, 'no');
    assert.is(report.exitCode, 2);
    assert.equal(
      report.failed.map(({ key }) => key),
      ['tab-1:ollama'],
    );
  }
  assert.not.ok(typesOf(target).includes('migration_completed'));
});

test('migration: an item that the log refuses does not keep the others out', async () => {
  const target = new MemoryMigrationTarget();
  const plan = await planOf(everything);
  const refused = plan.items.find(({ key }) => key === 'tab-1:ollama');
  if (refused?.kind !== 'conversation') throw new Error('there is such a conversation');
  (refused.event.data as { source: unknown }).source = 7;
  const report = await runMigration(plan, target);
  assert.equal(
    report.failed.map(({ key }) => key),
    ['tab-1:ollama'],
  );
  assert.is(report.completed, 'no');
  assert.equal(await target.loadConversation('tab-2:openrouter'), [user('keep me')]);
});

test.run();
