import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDaemon, serve } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EXIT } from '../exit-codes.ts';
import { Captured, turnlog, withDirectory } from '../testing/run-command.ts';

const KEY = 'thread:\u001b[2J';

/** A user-data directory with a conversation, and with a file that cannot be read. */
async function withUserData(task: (directory: string, source: string, data: string) => Promise<void>) {
  await withDirectory(async (directory) => {
    const source = join(directory, 'userdata');
    await mkdir(join(source, 'transcripts'), { recursive: true });
    const conversations = { [KEY]: [{ role: 'user', content: 'hello' }] };
    await writeFile(join(source, 'agent-conversations.json'), JSON.stringify({ conversations }));
    await writeFile(join(source, 'transcripts', `transcript.${'0'.repeat(24)}.json`), '{');
    await task(directory, source, join(directory, 'data'));
  });
}

test('migrate: into a directory and through a daemon the same, and a dry run makes nothing', async () => {
  await withUserData(async (directory, source, data) => {
    const dry = await turnlog(['migrate', source, '--dry-run', '--data', data]);
    assert.is(dry.exitCode, EXIT.incomplete, dry.stderr);
    assert.match(dry.stdout, /TO BRING IN/);
    assert.match(dry.stdout, /Nothing was written/);
    assert.equal((await readdir(directory)).sort(), ['userdata']);

    const running = await serve({ dataDirectory: data, port: 0 });
    try {
      const done = await turnlog(['migrate', source, '--json', '--data', data]);
      assert.is(done.exitCode, EXIT.incomplete, done.stderr);
      const report = JSON.parse(done.stdout);
      assert.is(report.completed, 'now');
      assert.is(report.outcomes.conversation.broughtIn, 1);
      assert.is(report.aliases, undefined);
    } finally {
      await running.stop();
    }
    const again = await turnlog(['migrate', source, '--data', data]);
    assert.match(again.stdout, /Everything was in already/);
  });
});

test('migrate --into: by its address, with the token of the data directory or of a file', async () => {
  await withUserData(async (directory, source, data) => {
    const running = await serve({ dataDirectory: data, port: 0 });
    try {
      const into = ['migrate', source, '--into', running.url.replace('http://', '')];
      const elsewhere = join(directory, 'elsewhere');
      const noToken = await turnlog([...into, '--data', elsewhere]);
      assert.is(noToken.exitCode, EXIT.failed);
      assert.match(noToken.stderr, /token cannot be read from .*--token-file/);
      const wrong = join(directory, 'wrong');
      await writeFile(wrong, 'wrong\n');
      assert.match((await turnlog([...into, '--token-file', wrong])).stderr, /unauthorized/);
      await writeFile(wrong, 'two words');
      assert.match((await turnlog([...into, '--token-file', wrong])).stderr, /holds no token/);

      const words = await turnlog([...into, '--data', elsewhere, '--token-file', join(data, 'token')]);
      assert.is(words.exitCode, EXIT.incomplete, words.stderr);
      assert.match(words.stdout, /1 conversation for remote clients made/);
      const again = await turnlog([...into, '--data', data]);
      assert.match(again.stdout, /web:\\x1b\[2J: left alone, it is there already/);
      assert.not.match(again.stdout, '\u001b');
      const json = JSON.parse((await turnlog([...into, '--json', '--data', data])).stdout);
      assert.equal(json.aliases, {
        made: [],
        left: [{ conversationKey: 'web:\u001b[2J', reason: 'exists' }],
      });
    } finally {
      await running.stop();
    }
  });
});

test('migrate --into: no token leaves this machine unasked, and an address is one', async () => {
  await withDirectory(async (directory) => {
    await writeFile(join(directory, 'token'), 'secret\n');
    const stranger = await turnlog([
      'migrate',
      directory,
      '--into',
      'http://192.0.2.1:7717',
      '--data',
      directory,
    ]);
    assert.is(stranger.exitCode, EXIT.failed);
    assert.match(stranger.stderr, /another machine: give its token/);
    for (const address of ['http://x/y', 'ftp://x', 'http://a:b@127.0.0.1', '127.0.0.1:7717?x', '']) {
      const done = await turnlog(['migrate', directory, '--into', address, '--data', directory]);
      assert.is(done.exitCode, EXIT.usage, address);
    }
  });
});

test('migrate: on a terminal it shows how far it is, and Ctrl-C ends it in order', async () => {
  await withUserData(async (_directory, source, data) => {
    const conversations = Object.fromEntries(
      Array.from({ length: 1_500 }, (_, place) => [`thread:${place}`, [{ role: 'user', content: 'x' }]]),
    );
    await writeFile(join(source, 'agent-conversations.json'), JSON.stringify({ conversations }));
    const stderr = new Captured(true, 80);
    const running = turnlog(['migrate', source, '--data', data], { stderr });
    await stderr.until(/bringing in/);
    process.kill(process.pid, 'SIGINT');
    const done = await running;
    assert.is(done.exitCode, 130);
    assert.is(done.stdout, '');
    const daemon = await openDaemon({ dataDirectory: data });
    const head = daemon.log.head();
    await daemon.close();
    assert.ok(head > 0 && head < 1_500, `it was broken off at ${head}`);
    const resumed = await turnlog(['migrate', source, '--json', '--data', data]);
    assert.is(JSON.parse(resumed.stdout).completed, 'now');
  });
});

test.run();
