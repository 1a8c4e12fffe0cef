import { createHash } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Message } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryMigrationStore } from '../testing/memory-migration-store.ts';
import { parseClearedList } from './cleared-list.ts';
import { planMigration } from './plan.ts';
import { readUserData } from './read-user-data.ts';
import { runMigration } from './run.ts';
import { storeTarget } from './store-target.ts';

const fixture = fileURLToPath(new URL('../../../../test/fixtures/crewcode-userdata/', import.meta.url));
const directory = join(fixture, 'userdata');

interface Expected {
  conversations: Record<string, Message[]>;
  sessions: { sessions: Record<string, string>; usage: Record<string, object> };
  transcripts: Record<string, unknown[]>;
}

const expected = JSON.parse(await fs.readFile(join(fixture, 'expected.json'), 'utf8')) as Expected;

test('fixture: the log gives for every key what CrewCode reads, and the source is left as it was', async () => {
  const before = await hashOf(directory);
  const store = new MemoryMigrationStore();
  const plan = planMigration(await readUserData(fs, directory));
  const report = await runMigration(plan, storeTarget(store));

  for (const [key, messages] of Object.entries(expected.conversations)) {
    assert.equal((await store.loadConversation(key)) ?? [], messages, key);
  }
  const usage: Record<string, object> = {};
  const sessions: Record<string, string> = {};
  const transcripts: Record<string, unknown[]> = {};
  for (const { kind, key } of plan.items) {
    if (kind === 'conversation') assert.ok(Object.hasOwn(expected.conversations, key), key);
    if (kind === 'transcript')
      transcripts[key] = ((await store.loadTranscript(key)) ?? []).map((row) => row.parse());
    if (kind !== 'session') continue;
    const session = await store.getSession(key);
    if (session.sessionId !== undefined) sessions[key] = session.sessionId;
    if (session.usage !== undefined) usage[key] = session.usage;
  }
  assert.equal({ sessions, usage }, expected.sessions);
  assert.equal(transcripts, expected.transcripts);

  assert.equal(
    report.problems.map(({ file }) => file),
    [
      'conversations/agent-conversations.946cf9b0047c8820895f51c6.json',
      'conversations/agent-conversations.d3bce55a1983c91e152cd7c0.json',
      'transcripts/transcript.deadbeefdeadbeefdeadbeef.json',
    ],
  );
  assert.equal(report.fromMonolith, ['thread:ws::main-e240', 'opencode/tab-f833']);
  assert.is(report.completed, 'now');
  assert.is(report.exitCode, 2);
  assert.is((await runMigration(plan, storeTarget(store))).completed, 'before');
  assert.equal(await hashOf(directory), before);
});

test('fixture: with its cleared list cut at any byte, no conversation comes back that the rest tells of', async () => {
  const file = join(directory, 'conversations', '.agent-conversations-cleared.json');
  const bytes = await fs.readFile(file);
  const userData = await readUserData(fs, directory);
  const keys = parseClearedList(bytes).keys;
  for (let length = 0; length < bytes.length; length += 1) {
    const { damage, ...cleared } = parseClearedList(bytes.subarray(0, length));
    const { items, setAside } = planMigration({ ...userData, cleared });
    const imported = new Set(items.filter(({ kind }) => kind === 'conversation').map(({ key }) => key));
    const text = bytes.subarray(0, length).toString();
    for (const key of keys) {
      // A key is told of once its quote is there; of one that is not nothing at all can be known.
      const place = bytes.toString().indexOf(JSON.stringify(key));
      if (place < length) assert.not.ok(imported.has(key), `${key} after ${text}`);
    }
    // What has a shard and begins otherwise comes in, whatever the list looks like.
    assert.ok(imported.has('hermes/sess-c534'), text);
    assert.is(setAside.conversations.length > 0, cleared.unknownEntry, text);
    assert.type(damage, 'string');
  }
});

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for (const entry of (await fs.readdir(path, { withFileTypes: true, recursive: true })).sort((one, other) =>
    join(one.parentPath, one.name) < join(other.parentPath, other.name) ? -1 : 1,
  )) {
    const name = join(entry.parentPath, entry.name);
    const { mtimeMs } = await fs.stat(name);
    hash.update(`${name} ${mtimeMs}\n`);
    if (entry.isFile()) hash.update(await fs.readFile(name));
  }
  return hash.digest('hex');
}

test.run();
