import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Message, OperationName, OperationParameters } from '@turnlog/events';
import { type Daemon, migrateInto, openDaemon, serve } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, withHost } from './support/daemon-in-process.ts';
import { withDirectory } from './support/daemon-process.ts';

const FIXTURE = fileURLToPath(new URL('../fixtures/crewcode-userdata/', import.meta.url));
const USERDATA = join(FIXTURE, 'userdata');

interface Expected {
  conversations: Record<string, Message[]>;
  sessions: { sessions: Record<string, string>; usage: Record<string, object> };
  transcripts: Record<string, unknown[]>;
}

const expected = JSON.parse(await readFile(join(FIXTURE, 'expected.json'), 'utf8')) as Expected;
const threads = Object.keys(expected.conversations).filter((key) => key.startsWith('thread:'));
const webOf = (key: string) => key.replace(/^thread:/, 'web:');

/** Parameters and results as they are behind a transport. */
function overJson({ dispatcher }: Daemon, before: (name: OperationName) => void = () => {}) {
  return async <Name extends OperationName>(name: Name, parameters: OperationParameters<Name>) => {
    before(name);
    const sent = JSON.parse(JSON.stringify(parameters));
    return JSON.parse(JSON.stringify(await dispatcher.call(name, sent)));
  };
}

async function contentsOf(host: Host, key: string): Promise<Message[] | undefined> {
  return await host.load(key).then(
    ({ messages }) => messages,
    (error) => {
      assert.is(error.code, 'conversation_not_found');
      return undefined;
    },
  );
}

async function withUserData<Result>(
  files: Record<string, unknown>,
  task: (directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-userdata-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(join(directory, name, '..'), { recursive: true });
      await writeFile(join(directory, name), JSON.stringify(content));
    }
    return await task(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test('migrate into: brings in what is missing, with an alias for each thread, and once only', async () => {
  await withHost(async (host) => {
    const call = overJson(host.daemon);
    const report = await migrateInto(call, { directory: USERDATA, webAliases: true });
    assert.is(report.completed, 'now');
    assert.equal(report.failed, []);
    for (const [key, messages] of Object.entries(expected.conversations)) {
      assert.equal((await contentsOf(host, key)) ?? [], messages, key);
    }
    for (const [sessionKey, sessionId] of Object.entries(expected.sessions.sessions)) {
      assert.is((await call('session.get', { sessionKey })).sessionId, sessionId);
    }
    for (const [scopeId, messages] of Object.entries(expected.transcripts)) {
      assert.equal((await call('transcripts.load', { scopeId })).messages, messages);
    }
    const held = threads.filter((key) => (expected.conversations[key] ?? []).length > 0);
    assert.ok(held.length > 0);
    for (const key of held)
      assert.equal(await contentsOf(host, webOf(key)), expected.conversations[key], key);
    for (const key of held) assert.ok(report.aliases?.made.includes(webOf(key)), key);

    const head = host.daemon.log.head();
    const again = await migrateInto(call, { directory: USERDATA, webAliases: true });
    assert.is(again.completed, 'before');
    assert.equal(again.aliases?.made, []);
    assert.equal(
      again.aliases?.left.map(({ reason }) => reason),
      report.aliases?.made.map(() => 'exists'),
    );
    // The daemon itself finds the same in the same directory.
    assert.is((await host.daemon.migrate({ directory: USERDATA })).completed, 'before');
    assert.is(host.daemon.log.head(), head, 'nothing was written');
  });
});

const small = {
  'agent-conversations.json': {
    conversations: {
      'thread:a': [{ role: 'user', content: 'a' }],
      'thread:b': [{ role: 'user', content: 'b' }],
      'thread:c': [{ role: 'user', content: 'c' }],
      'web:d': [{ role: 'user', content: 'own' }],
      'thread:d': [{ role: 'user', content: 'd' }],
      'thread:gone': [{ role: 'user', content: 'gone' }],
    },
  },
  'conversations/.agent-conversations-cleared.json': ['thread:gone', 'web:c'],
};

test('migrate into: what the daemon has, or was told to clear, stays as it is', async () => {
  await withUserData(small, async (directory) => {
    await withHost(async (host) => {
      const call = overJson(host.daemon);
      await host.record('one', 'codex', 'thread:a');
      await host.turn('one', 'newer', 'answer');
      await call('conversation.clear', { conversationKey: 'thread:b' });

      const head = host.daemon.log.head();
      const dry = await migrateInto(call, { directory, webAliases: true, dryRun: true });
      assert.is(host.daemon.log.head(), head, 'a dry run writes nothing');
      const report = await migrateInto(call, { directory, webAliases: true });
      assert.is(report.completed, 'now');
      assert.equal(dry.aliases, report.aliases, 'a dry run says what would be');
      assert.equal(report.aliases, {
        made: ['web:a'],
        left: [
          { conversationKey: 'web:c', reason: 'cleared' },
          { conversationKey: 'web:d', reason: 'exists' },
        ],
      });
      assert.equal(await host.contents('thread:a'), ['newer', 'answer']);
      assert.equal(await host.contents('web:a'), ['newer', 'answer']);
      for (const key of ['thread:b', 'thread:gone', 'web:c']) assert.equal(await host.contents(key), [], key);
      assert.is(await contentsOf(host, 'web:b'), undefined);
      assert.is(await contentsOf(host, 'web:gone'), undefined);
      assert.equal(await host.contents('web:d'), ['own']);
    });
  });
});

test('migrate into: broken off at any call, it goes on where it stopped, with nothing twice', async () => {
  await withUserData(small, async (directory) => {
    for (let callsMax = 0; ; callsMax += 1) {
      const isWhole = await withHost(async (host) => {
        let calls = 0;
        const breaking = overJson(host.daemon, () => {
          calls += 1;
          if (calls > callsMax) throw new Error('the connection is lost');
        });
        const ended = await migrateInto(breaking, { directory, webAliases: true }).catch(() => undefined);
        await host.restart();
        const report = await migrateInto(overJson(host.daemon), { directory, webAliases: true });
        assert.ok(report.completed !== 'no');
        const ids = new Set<string>();
        let completions = 0;
        for await (const { id, type } of host.daemon.log.read()) {
          assert.not.ok(ids.has(id));
          ids.add(id);
          if (type === 'migration_completed') completions += 1;
        }
        assert.is(completions, 1);
        assert.equal(await host.contents('web:a'), ['a']);
        assert.equal(await host.contents('web:d'), ['own']);
        return ended !== undefined;
      });
      if (isWhole) break;
      assert.ok(callsMax < 100, 'it comes to an end');
    }
  });
});

test('migrate into: rows and texts of every kind come through unchanged', async () => {
  const text = '\ud800 \u0000 \u2028 "__proto__" \u{1f600}';
  const rows = [
    JSON.parse('{"__proto__":{"a":1},"kind":"user","text":"\\ud800"}'),
    { kind: 'user' },
    { kind: 'user' },
  ];
  const files = {
    'agent-conversations.json': {
      conversations: { 'thread:\u001b[2J/../x': [{ role: 'user', content: text }] },
    },
    'transcripts/transcript.0123456789abcdef01234567.json': { scopeId: '__proto__', messages: rows },
    'agent-sessions.json': { sessions: { 's:acp:x:y': text } },
  };
  await withUserData(files, async (directory) => {
    await withHost(async (host) => {
      const call = overJson(host.daemon);
      const report = await migrateInto(call, { directory, webAliases: true });
      assert.is(report.completed, 'now', JSON.stringify(report));
      assert.equal(await host.contents('web:\u001b[2J/../x'), [text]);
      assert.is((await call('session.get', { sessionKey: 's:acp:x:y' })).sessionId, text);
      const loaded = (await call('transcripts.load', { scopeId: '__proto__' })).messages;
      assert.is(JSON.stringify(loaded), JSON.stringify(rows));
    });
  });
});

test('serve --migrate-from: at the first start, and never again', async () => {
  await withDirectory(async (directory, start) => {
    const source = join(directory, 'userdata');
    await cp(USERDATA, source, { recursive: true });
    const first = await start('--migrate-from', source);
    const status = await first.client.call('daemon.status', {});
    assert.ok(status.seq > 0);
    const key =
      Object.keys(expected.conversations).find((each) => (expected.conversations[each] ?? []).length > 0) ??
      '';
    await first.client.call('conversation.clear', { conversationKey: key });
    assert.is(await first.kill('SIGTERM'), 0);
    // The directory is not even looked at.
    await rm(source, { recursive: true });
    const second = await start('--migrate-from', source);
    assert.equal((await second.client.call('conversation.load', { conversationKey: key })).messages, []);
  });
});

test('serve --migrate-from: goes on with a first start that was interrupted, and not after anything else', async () => {
  await withUserData(small, async (directory) => {
    await withHost(async (host) => {
      let calls = 0;
      const breaking = overJson(host.daemon, (name) => {
        if (name === 'migration.import') calls += 1;
        if (calls > 1) throw new Error('the connection is lost');
      });
      await migrateInto(breaking, { directory }).catch(() => {});
      assert.ok(host.daemon.log.head() > 0);
      const resumed = await host.daemon.migrateAtFirstStart({ directory });
      assert.is(resumed?.completed, 'now');
      assert.is(await host.daemon.migrateAtFirstStart({ directory }), undefined);
    });
    await withHost(async (host) => {
      await host.record('one', 'codex', 'thread:z');
      assert.is(await host.daemon.migrateAtFirstStart({ directory }), undefined);
    });
  });
});

test('serve --migrate-from: a directory that is not there keeps the daemon from starting', async () => {
  await withUserData({}, async (directory) => {
    const options = { dataDirectory: join(directory, 'data'), port: 0, migrateFrom: join(directory, 'none') };
    const error = await serve(options).then(
      () => assert.unreachable('it does not start') as never,
      (thrown: Error) => thrown,
    );
    assert.match(error.message, /cannot be read \(ENOENT\)/);
    const daemon = await openDaemon({ dataDirectory: options.dataDirectory });
    await daemon.close();
  });
});

test.run();
