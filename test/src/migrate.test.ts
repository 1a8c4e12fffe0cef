import { createHash } from 'node:crypto';
import { cp, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runTurnlog, withDirectory } from './support/daemon-process.ts';
import { readAsIncumbent } from './support/incumbent.ts';

const FIXTURE = fileURLToPath(new URL('../fixtures/crewcode-userdata/', import.meta.url));
const USERDATA = join(FIXTURE, 'userdata');

interface Expected {
  conversations: Record<string, { role: string; content: string }[]>;
  sessions: { sessions: Record<string, string>; usage: Record<string, object> };
  transcripts: Record<string, unknown[]>;
}

async function expected(): Promise<Expected> {
  return JSON.parse(await readFile(join(FIXTURE, 'expected.json'), 'utf8')) as Expected;
}

/** Every file of a directory with its content and time. */
async function treeOf(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(
    files.sort().map(async (file) => {
      const digest = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      return `${file} ${digest} ${(await stat(file)).mtimeMs}`;
    }),
  );
}

test('migrate: what the incumbent reads of a user-data directory is what turnlog holds, for every key', async () => {
  await withDirectory(async (directory, start) => {
    const source = join(directory, 'userdata');
    const data = join(directory, 'data');
    await cp(USERDATA, source, { recursive: true, preserveTimestamps: true });
    const before = await treeOf(source);

    const dry = await runTurnlog(['migrate', source, '--data', data, '--dry-run', '--json']);
    assert.is(dry.exitCode, 2, dry.stderr);
    assert.is(JSON.parse(dry.stdout).completed, 'no');

    const run = await runTurnlog(['migrate', source, '--data', data, '--json']);
    assert.is(run.exitCode, 2, run.stderr);
    const report = JSON.parse(run.stdout);
    assert.is(report.completed, 'now');
    assert.ok(report.problems.length > 0, 'the torn files are reported');
    assert.equal(report.failed, []);

    const again = await runTurnlog(['migrate', source, '--data', data, '--json']);
    assert.is(again.exitCode, 2);
    assert.is(JSON.parse(again.stdout).completed, 'before');
    assert.equal(await treeOf(source), before, 'the source is as it was');

    const { client } = await start();
    const status = await client.call('daemon.status', {});
    const want = await expected();
    for (const [conversationKey, messages] of Object.entries(want.conversations)) {
      const loaded = await client.call('conversation.load', { conversationKey });
      assert.equal(loaded.messages, messages, conversationKey);
    }
    const { conversations } = await client.call('conversation.list', { limit: 1_000 });
    assert.equal(
      conversations.map((conversation) => conversation.conversationKey).sort(),
      Object.keys(want.conversations)
        .filter((key) => (want.conversations[key]?.length ?? 0) > 0)
        .sort(),
      'and no other',
    );
    for (const [sessionKey, sessionId] of Object.entries(want.sessions.sessions)) {
      assert.is((await client.call('session.get', { sessionKey })).sessionId, sessionId);
    }
    for (const [sessionKey, usage] of Object.entries(want.sessions.usage)) {
      assert.equal((await client.call('session.get', { sessionKey })).usage, usage);
    }
    for (const [scopeId, messages] of Object.entries(want.transcripts)) {
      assert.equal((await client.call('transcripts.load', { scopeId })).messages, messages, scopeId);
    }
    const running = await runTurnlog(['migrate', source, '--data', data, '--json']);
    assert.is(JSON.parse(running.stdout).completed, 'before', 'also through the daemon');
    assert.is((await client.call('daemon.status', {})).seq, status.seq, 'and nothing was written');
  });
});

test('migrate: the incumbent reads the rendered files as it read its own', async () => {
  await withDirectory(async (directory) => {
    const data = join(directory, 'data');
    const run = await runTurnlog(['migrate', USERDATA, '--data', data]);
    assert.is(run.exitCode, 2, run.stderr);
    const want = await expected();
    const own = await readAsIncumbent(USERDATA, Object.keys(want.conversations));
    const rendered = await readAsIncumbent(data, Object.keys(want.conversations));
    assert.equal(own, want, 'the reader is a fair one: it reads what the incumbent reads');
    assert.equal(rendered.conversations, want.conversations);
    assert.equal(rendered.sessions, want.sessions);
    assert.equal(rendered.transcripts, want.transcripts);
  });
});

test('migrate: into the source itself, or into each other, is refused before anything is touched', async () => {
  await withDirectory(async (directory) => {
    const source = join(directory, 'userdata');
    await cp(USERDATA, source, { recursive: true, preserveTimestamps: true });
    await symlink(source, join(directory, 'link'));
    const before = await treeOf(source);
    for (const data of [source, join(source, 'data'), join(directory, 'link'), directory]) {
      for (const more of [[], ['--dry-run']]) {
        const run = await runTurnlog(['migrate', source, '--data', data, ...more]);
        assert.is(run.exitCode, 1, data);
        assert.match(run.stderr, /lie in each other/);
      }
    }
    const served = await runTurnlog(['serve', '--data', source, '--port', '0', '--migrate-from', source]);
    assert.is(served.exitCode, 1, served.stderr);
    assert.equal(await treeOf(source), before);
  });
});

test('migrate: a directory that is not there is said so', async () => {
  await withDirectory(async (directory) => {
    const run = await runTurnlog(['migrate', join(directory, 'nowhere'), '--data', join(directory, 'data')]);
    assert.is(run.exitCode, 1);
    assert.match(run.stderr, /nowhere/);
    assert.match(run.stderr, /invalid_argument/);
  });
});

test.run();
