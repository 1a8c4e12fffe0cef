/* What hostile keys and texts come to on the disk: files that parse, inside the data directory, one for each. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Message } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, withHost } from './support/daemon-in-process.ts';
import { HOSTILE_KEYS, HOSTILE_TEXTS, HOSTILE_VALUES, overTheWire } from './support/hostile-values.ts';

const digestOf = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 24);
const textAt = (place: number) => `${place} ${HOSTILE_TEXTS[place % HOSTILE_TEXTS.length]}`;
const rowsAt = (place: number) =>
  overTheWire([{ id: textAt(place) }, { place, value: HOSTILE_VALUES[place % HOSTILE_VALUES.length] }]);
const messagesAt = (place: number): Message[] => [
  { role: 'user', content: textAt(place) },
  { role: 'assistant', content: `${textAt(place)} answered` },
];
/** So that its session's key is not too long either. */
const KEYS = HOSTILE_KEYS.filter((key) => Buffer.byteLength(key) < 4_000);

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'));
}

/** Every file that belongs to a key, read as anybody would read it. */
async function assertFiles(directory: string): Promise<void> {
  for (const [place, key] of KEYS.entries()) {
    const shard = await readJson(join(directory, `conversations/agent-conversations.${digestOf(key)}.json`));
    // As text: a comparison of objects may look at what is called "constructor".
    const due = { conversations: Object.fromEntries([[key, messagesAt(place)]]) };
    assert.is(JSON.stringify(shard), JSON.stringify(due));
    const transcript = await readJson(join(directory, `transcripts/transcript.${digestOf(key)}.json`));
    assert.is(JSON.stringify(transcript), JSON.stringify({ scopeId: key, messages: rowsAt(place) }));
  }
}

async function assertAllInside(directory: string): Promise<void> {
  const root = await realpath(directory);
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = await realpath(join(entry.parentPath, entry.name));
    assert.ok(path.startsWith(root + sep), path);
    assert.match(entry.name, /^[\w.-]+$/, 'no name is made of what a key holds');
  }
  const around = await readdir(dirname(directory));
  assert.ok(
    around.every((name) => name === 'data' || name === 'userdata'),
    around.join(),
  );
}

async function assertSound(host: Host): Promise<void> {
  const { dispatcher } = host.daemon;
  const { projections } = await dispatcher.call('projections.rebuild', { check: true });
  for (const { name, equal, differences = [] } of projections) assert.ok(equal, `${name}: ${differences}`);
  assert.equal((await dispatcher.call('log.verify', {})).problems, []);
}

async function assertLoaded(host: Host): Promise<void> {
  const { dispatcher } = host.daemon;
  for (const [place, key] of KEYS.entries()) {
    const { messages } = await dispatcher.call('conversation.load', { conversationKey: key });
    assert.equal(messages, messagesAt(place), JSON.stringify(key));
    const rows = await dispatcher.call('transcripts.load', { scopeId: key });
    assert.is(JSON.stringify(rows.messages), JSON.stringify(rowsAt(place)));
  }
}

test('files: each key has its own, it parses, and nothing lies outside the data directory', async () => {
  await withHost(async (host) => {
    const { dispatcher } = host.daemon;
    for (const [place, key] of KEYS.entries()) {
      await dispatcher.call('bridge.record', { bridgeId: key, provider: 'codex', conversationKey: key });
      const [user, assistant] = messagesAt(place);
      await host.report(
        key,
        { type: 'session_id', sessionId: textAt(place) },
        { type: 'prompt', text: user?.content },
        { type: 'turn_start', turnId: key },
        { type: 'turn_end', turnId: key, text: assistant?.content, usage: { contextTokens: place + 1 } },
      );
      await dispatcher.call('transcripts.save', { scopeId: key, messages: rowsAt(place) });
    }
    await dispatcher.call('projections.flush', {});
    await assertFiles(host.dataDirectory);
    const { sessions, usage } = (await readJson(join(host.dataDirectory, 'agent-sessions.json'))) as {
      sessions: Record<string, string>;
      usage: Record<string, { contextTokens: number }>;
    };
    for (const [place, key] of KEYS.entries()) {
      // A thread and its web twin share a session, so that the last one to report has it.
      const sessionKey = `${key.replace(/^(thread|web):/, '')}:codex`;
      const last = KEYS.findLastIndex(
        (other) => `${other.replace(/^(thread|web):/, '')}:codex` === sessionKey,
      );
      assert.is(sessions[sessionKey], textAt(last), JSON.stringify([place, key]));
      assert.is(usage[sessionKey]?.contextTokens, last + 1);
    }
    await assertAllInside(host.dataDirectory);
    await assertSound(host);

    await host.restart();
    await assertLoaded(host);
    for (const key of KEYS) {
      await host.daemon.dispatcher.call('conversation.clear', { conversationKey: key });
      await host.daemon.dispatcher.call('transcripts.remove', { scopeId: key });
    }
    await host.daemon.dispatcher.call('projections.flush', {});
    const cleared = await readJson(
      join(host.dataDirectory, 'conversations/.agent-conversations-cleared.json'),
    );
    assert.equal(cleared, KEYS);
    assert.equal(await readdir(join(host.dataDirectory, 'transcripts')), []);
    await assertSound(host);
  });
});

test('migration: hostile user data comes in as it is, and once', async () => {
  await withHost(async (host) => {
    const source = join(dirname(host.dataDirectory), 'userdata');
    await mkdir(join(source, 'conversations'), { recursive: true });
    await mkdir(join(source, 'transcripts'));
    const sessions: [string, string][] = [];
    for (const [place, key] of KEYS.entries()) {
      const shard = { conversations: Object.fromEntries([[key, messagesAt(place)]]) };
      await writeFile(
        join(source, `conversations/agent-conversations.${digestOf(key)}.json`),
        JSON.stringify(shard),
      );
      const transcript = { scopeId: key, messages: rowsAt(place) };
      await writeFile(
        join(source, `transcripts/transcript.${digestOf(key)}.json`),
        JSON.stringify(transcript),
      );
      sessions.push([`${key}:codex`, textAt(place)]);
    }
    await writeFile(
      join(source, 'agent-sessions.json'),
      JSON.stringify({ sessions: Object.fromEntries(sessions), usage: {} }),
    );
    const report = await host.daemon.dispatcher.call('migration.run', { directory: source });
    assert.equal([report.completed, report.failed, report.problems], ['now', [], []]);
    await assertLoaded(host);
    for (const [sessionKey, sessionId] of sessions) {
      assert.equal(await host.daemon.dispatcher.call('session.get', { sessionKey }), { sessionId });
    }
    await host.daemon.dispatcher.call('projections.flush', {});
    await assertFiles(host.dataDirectory);
    await assertAllInside(host.dataDirectory);
    await assertSound(host);
    const again = await host.daemon.dispatcher.call('migration.run', { directory: source });
    assert.is(again.outcomes.conversation.broughtIn, 0);
    assert.is(again.outcomes.transcript.broughtIn, 0);
  });
});

test('migration: files that are none of theirs are named and harm nothing', async () => {
  await withHost(async (host) => {
    const source = join(dirname(host.dataDirectory), 'userdata');
    await mkdir(join(source, 'conversations'), { recursive: true });
    await mkdir(join(source, 'transcripts'));
    const contents = [
      '',
      '{',
      'null',
      '[]',
      '{"conversations":[]}',
      '{"conversations":{"":[{}]}}',
      '\0'.repeat(50),
    ];
    for (const [place, content] of contents.entries()) {
      const digest = digestOf(String(place));
      await writeFile(join(source, `conversations/agent-conversations.${digest}.json`), content);
      await writeFile(join(source, `transcripts/transcript.${digest}.json`), content);
    }
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    await writeFile(
      join(source, `transcripts/transcript.${digestOf('deep')}.json`),
      `{"scopeId":"deep","messages":[${deep}]}`,
    );
    await writeFile(
      join(source, `conversations/agent-conversations.${digestOf('surrogate')}.json`),
      '{"conversations":{"\\ud800":[{"role":"user","content":"x"}]}}',
    );
    await writeFile(
      join(source, 'agent-sessions.json'),
      '{"sessions":{"":"a","\\ud800":"b","ok":3},"usage":7}',
    );
    const report = await host.daemon.dispatcher.call('migration.run', { directory: source });
    assert.ok(report.problems.length > 0);
    await assertSound(host);
    assert.equal(
      (await host.daemon.dispatcher.call('conversation.list', {})).conversations.length <= 1,
      true,
    );
  });
});

test.run();
