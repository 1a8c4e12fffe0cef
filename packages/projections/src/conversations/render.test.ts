import { readdirSync, readFileSync } from 'node:fs';
import { type Message, streamOf } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { START_AT } from '../testing/fold-bench.ts';
import { ConversationBench, KEY } from './conversation-bench.ts';
import { fileOf, shardFileOf } from './render.ts';

const CLEARED_FILE = 'conversations/.agent-conversations-cleared.json';
const MIGRATED_FILE = 'conversations/.agent-conversations-migrated';
const FIXTURES = new URL(
  '../../../../test/fixtures/crewcode-userdata/userdata/conversations/',
  import.meta.url,
);

test('shard file: its bytes are those that CrewCode writes', async () => {
  let compared = 0;
  for (const name of readdirSync(FIXTURES).filter((file) => /^agent-conversations\..*\.json$/.test(file))) {
    const written = readFileSync(new URL(name, FIXTURES), 'utf8');
    const stored = parsed(written);
    // Torn files and those of the older shape are not written any more.
    if (stored === undefined) continue;
    const [[conversationKey, messages] = ['', []]] = Object.entries(stored);
    const bench = new ConversationBench();
    await bench.take(streamOf.conversation(conversationKey), 'conversation_imported', {
      conversationKey,
      source: 'crewcode',
      messages,
    });
    assert.equal(await bench.files(), { [`conversations/${name}`]: written });
    compared += 1;
  }
  assert.ok(compared >= 30, 'the fixtures were compared');
});

function parsed(text: string): Record<string, Message[]> | undefined {
  try {
    return (JSON.parse(text) as { conversations?: Record<string, Message[]> }).conversations;
  } catch {
    return undefined;
  }
}

test('shard file: hostile keys come out as any other', async () => {
  for (const key of ['__proto__', 'constructor', '../../x', 'a"b\\c\n\u0000\u2028', '7', '😀']) {
    const bench = new ConversationBench();
    await bench.turn('t1', 'question', 'answer', key);
    const files = await bench.files();
    assert.equal(Object.keys(files), [shardFileOf(key)]);
    assert.match(shardFileOf(key), /^conversations\/agent-conversations\.[0-9a-f]{24}\.json$/);
    const { conversations } = JSON.parse(files[shardFileOf(key)] ?? '');
    assert.equal(Object.keys(conversations), [key]);
    assert.equal(Object.getOwnPropertyDescriptor(conversations, key)?.value, [
      { role: 'user', content: 'question' },
      { role: 'assistant', content: 'answer' },
    ]);
  }
});

test('shard file: it goes with a clear and comes again with the next turn', async () => {
  const bench = new ConversationBench();
  const file = shardFileOf(KEY);
  await bench.turn('t1', 'one', 'first');
  await bench.files();
  await bench.clear();
  assert.equal(await bench.files(), { [CLEARED_FILE]: `["${KEY}"]`, [file]: undefined });
  await bench.start('t2', 'two');
  assert.equal(await bench.files(), {
    [CLEARED_FILE]: '[]',
    [file]: `{"conversations":{"${KEY}":[{"role":"user","content":"two"}]}}`,
  });
});

test('shard file: output that waits for the end of its turn makes nothing dirty', async () => {
  const bench = new ConversationBench();
  await bench.start('t1', 'one');
  await bench.files();
  await bench.output('t1', 'half');
  assert.equal(await bench.files(), {});
  await bench.end('t1');
  assert.equal(Object.keys(await bench.files()), [shardFileOf(KEY)]);
});

test('migration marker: it has the time of the first migration', async () => {
  const bench = new ConversationBench();
  const done = { source: 'crewcode', fingerprint: 'f', counts: {} };
  await bench.take(streamOf.migration('crewcode'), 'migration_completed', done);
  const migratedAt = new Date(START_AT + 1_000).toISOString();
  const written = `{"migratedAt":"${migratedAt}","legacyFile":"agent-conversations.json"}`;
  assert.equal(await bench.files(), { [MIGRATED_FILE]: written });
  await bench.take(streamOf.migration('crewcode'), 'migration_completed', { ...done, fingerprint: 'g' });
  assert.equal(await bench.files(), {});
});

test('files: a conversation with the name of another file is a shard like any other', () => {
  assert.is(fileOf('cleared'), CLEARED_FILE);
  assert.is(fileOf('migrated'), MIGRATED_FILE);
  assert.is(fileOf('shard:cleared'), shardFileOf('cleared'));
  assert.throws(() => fileOf('elsewhere'), /a file of the conversations/);
});

test.run();
