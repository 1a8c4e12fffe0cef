/*
 * What went wrong for people whose stores were held, locked or torn, through the whole of turnlog.
 */
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FileSystem, nodeFileSystem } from '@turnlog/log';
import { type Daemon, type DaemonOptions, openDaemon } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const KEY = 'thread:c';

async function inDirectory(task: (dataDirectory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-store-cases-'));
  try {
    await task(join(directory, 'data'));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function withDaemon<Result>(
  options: DaemonOptions,
  task: (daemon: Daemon) => Promise<Result>,
): Promise<Result> {
  const daemon = await openDaemon(options);
  try {
    return await task(daemon);
  } finally {
    await daemon.close();
  }
}

/** A turn that makes the conversation's next version. */
async function say({ dispatcher }: Daemon, version: number): Promise<void> {
  await dispatcher.call('bridge.record', { bridgeId: 'b', provider: 'codex', conversationKey: KEY });
  const turnId = `t${version}`;
  const events = [
    { type: 'turn_start', turnId },
    { type: 'turn_end', turnId, text: `v${version}` },
  ];
  await dispatcher.call('bridge.event', { bridgeId: 'b', events });
}

async function versionsIn({ dispatcher }: Daemon): Promise<string[]> {
  const { messages } = await dispatcher.call('conversation.load', { conversationKey: KEY });
  return messages.map(({ content }) => content);
}

async function codeOf(task: Promise<unknown>): Promise<string> {
  return await task.then(
    () => 'none',
    (error: { code?: string }) => error.code ?? String(error),
  );
}

/** A file system on which another program holds the shards, so that nothing replaces them. */
function heldFileSystem(): { fileSystem: FileSystem; hold: { code: string; times: number } } {
  const hold = { code: 'EPERM', times: 0 };
  const rename: FileSystem['rename'] = async (from, to) => {
    if (basename(String(to)).startsWith('agent-conversations.') && hold.times > 0) {
      hold.times -= 1;
      throw Object.assign(new Error(`${hold.code}: held by another program`), { code: hold.code });
    }
    await nodeFileSystem.rename(from, to);
  };
  return { fileSystem: { ...nodeFileSystem, rename }, hold };
}

test('a held file: replaced after some tries; held for good it stays as it is, that is said, and a restart makes it good', () =>
  inDirectory(async (dataDirectory) => {
    const shards = join(dataDirectory, 'conversations');
    const shown = async () => {
      const [name = ''] = (await readdir(shards)).filter((each) =>
        /^agent-conversations\..*\.json$/.test(each),
      );
      const { conversations } = JSON.parse(await readFile(join(shards, name), 'utf8'));
      return (conversations[KEY] as { content: string }[]).map(({ content }) => content);
    };
    const { fileSystem, hold } = heldFileSystem();
    await withDaemon({ dataDirectory, fileSystem }, async (daemon) => {
      hold.times = 2;
      await say(daemon, 7);
      await daemon.projections.flush();
      assert.equal(await shown(), ['v7']);

      Object.assign(hold, { code: 'EBUSY', times: Number.POSITIVE_INFINITY });
      await say(daemon, 8);
      assert.is(await codeOf(daemon.projections.flush()), 'store_failed');
      assert.equal(await shown(), ['v7'], 'what was there is still there');
      assert.equal(await versionsIn(daemon), ['v7', 'v8'], 'reads do not depend on files');
      const { projections } = await daemon.dispatcher.call('projections.status', {});
      const status = projections.find(({ name }) => name === 'conversations');
      assert.is(status?.waitingFiles, 1);
      assert.match(status?.error?.message ?? '', 'EBUSY');
    });

    // As a process leaves it that was killed while it replaced the file.
    const [name = ''] = (await readdir(shards)).filter((each) =>
      /^agent-conversations\..*\.json$/.test(each),
    );
    await writeFile(join(shards, `${name}.123-4.tmp`), '{"conversations":{"thread:half":[');
    await withDaemon({ dataDirectory }, async (daemon) => {
      await daemon.projections.flush();
      assert.equal(await shown(), ['v7', 'v8']);
      assert.not((await readdir(shards)).some((each) => each.endsWith('.tmp')));
      const { conversations } = await daemon.dispatcher.call('conversation.list', {});
      assert.equal(
        conversations.map(({ conversationKey }) => conversationKey),
        [KEY],
      );
    });
  }));

test('a locked store: the second to open it is told which process has it, also within one, and the first is unharmed', () =>
  inDirectory(async (dataDirectory) => {
    await withDaemon({ dataDirectory }, async (first) => {
      await say(first, 1);
      // The kernel's lock is the process's own: a removed LOCK keeps nobody out.
      await rm(join(dataDirectory, 'log', 'LOCK'));
      const refused = await openDaemon({ dataDirectory }).then(
        async (second) => await second.close(),
        (error) => error,
      );
      assert.is(refused?.code, 'store_locked');
      assert.match(refused.message, String(process.pid));
      await say(first, 2);
      assert.equal(await versionsIn(first), ['v1', 'v2']);
    });
    await withDaemon({ dataDirectory }, async (again) => {
      assert.equal(await versionsIn(again), ['v1', 'v2']);
    });
  }));

for (const { what, tear, isHarmless } of [
  // LevelDB takes it for an end, and goes on from there: nothing is missing that the log would not fill in.
  {
    what: 'the newest MANIFEST cut by 7 bytes',
    tear: (path: string) => cut(path, 'MANIFEST-', 7),
    isHarmless: true,
  },
  {
    what: 'a CURRENT without its newline',
    tear: (path: string) => cut(path, 'CURRENT', 1),
    isHarmless: false,
  },
  { what: 'a table of no bytes', tear: (path: string) => cut(path, '.ldb', Infinity), isHarmless: false },
]) {
  test(`a torn store: ${what} of the projections or the index is made good, and never taken for the truth`, () =>
    inDirectory(async (dataDirectory) => {
      const fill = async (first: number) =>
        await withDaemon({ dataDirectory }, async (daemon) => {
          for (let version = first; version < first + 5; version += 1) await say(daemon, version);
          await daemon.projections.flush();
        });
      await fill(0);
      await fill(5);
      const versions = Array.from({ length: 10 }, (_, version) => `v${version}`);
      for (const database of ['projections', 'index']) {
        await tear(join(dataDirectory, database));
        const notices: string[] = [];
        const onNotice = ({ message }: { message: string }) => notices.push(message);
        await withDaemon({ dataDirectory, onNotice }, async (daemon) => {
          assert.equal(await versionsIn(daemon), versions);
          const { projections } = await daemon.dispatcher.call('projections.rebuild', { check: true });
          assert.ok(projections.every(({ equal }) => equal));
          const { problems } = await daemon.log.verify();
          assert.ok(problems.every(({ problem }) => problem === 'not_indexed'));
          while (daemon.readiness() !== 'ready') await delay(20);
          assert.equal((await daemon.log.verify()).problems, []);
        });
        if (!isHarmless) assert.match(notices.join('\n'), /made anew/, database);
      }
    }));

  if (isHarmless) continue;
  test(`a torn store: ${what} of the log is refused, and nothing is taken away`, () =>
    inDirectory(async (dataDirectory) => {
      for (const version of [1, 2]) await withDaemon({ dataDirectory }, (daemon) => say(daemon, version));
      await tear(join(dataDirectory, 'log'));
      const before = (await readdir(join(dataDirectory, 'log'))).filter((name) => name.endsWith('.ldb'));
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        assert.is(await codeOf(openDaemon({ dataDirectory })), 'store_damaged');
        const after = await readdir(join(dataDirectory, 'log'));
        assert.ok(before.every((name) => after.includes(name)));
      }
    }));
}

async function cut(directory: string, kind: string, bytes: number): Promise<void> {
  const name = (await readdir(directory)).find((each) => each.startsWith(kind) || each.endsWith(kind));
  const path = join(directory, name ?? `no ${kind}`);
  await truncate(path, Math.max(0, (await readFile(path)).length - bytes));
}

test.run();
