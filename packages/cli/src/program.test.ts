import { readdir } from 'node:fs/promises';
import { findDaemon } from '@turnlog/client';
import { openDaemon, serve } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EXIT } from './exit-codes.ts';
import { bothWays, KEY, turnlog, withData, withDirectory } from './testing/run-command.ts';

test('status: says where it looked and how the projections stand', async () => {
  await bothWays(async (data, way) => {
    const words = await turnlog(['status', '--data', data]);
    assert.is(words.exitCode, EXIT.ok, words.stderr);
    assert.match(words.stdout, way === 'daemon' ? /the daemon at http/ : /no daemon runs/);
    assert.match(words.stdout, /conversations +live +4 +0/);
    const json = JSON.parse((await turnlog(['status', '--json', '--data', data])).stdout);
    assert.is(json.seq, 4);
    assert.is(json.running, way === 'daemon');
  });
});

test('conversations and show: hostile text is shown and does nothing', async () => {
  await bothWays(async (data) => {
    const list = await turnlog(['conversations', '--data', data]);
    assert.is(list.exitCode, EXIT.ok);
    assert.not.match(list.stdout, /[\u001b\u0007]/);
    assert.match(list.stdout, /thread:\\x1b\]0;evil/);
    const shown = await turnlog(['show', KEY, '--data', data]);
    assert.match(shown.stdout, /hello\\x1b\[2J/);
    assert.match(shown.stdout, /two\nlines/);
    const json = JSON.parse((await turnlog(['show', KEY, '--json', '--data', data])).stdout);
    assert.equal(json.messages, [
      { role: 'user', content: 'hello\u001b[2J' },
      { role: 'assistant', content: 'two\nlines' },
    ]);
  });
});

test('show --at: the conversation as it was at a seq or a time', async () => {
  await bothWays(async (data) => {
    const before = JSON.parse((await turnlog(['show', KEY, '--at', '3', '--json', '--data', data])).stdout);
    assert.is(before.messages.length, 1);
    const now = await turnlog([
      'show',
      KEY,
      '--at',
      new Date(Date.now() + 60_000).toISOString(),
      '--data',
      data,
    ]);
    assert.match(now.stdout, /two\nlines/);
    const early = await turnlog(['show', KEY, '--at', '2001-01-01', '--data', data]);
    assert.is(early.exitCode, EXIT.failed);
    assert.match(early.stderr, /conversation_not_found/);
    assert.match((await turnlog(['show', KEY, '--at', 'noon', '--data', data])).stderr, /invalid_argument/);
  });
});

test('log: one event a line, from a seq on, as JSON lines', async () => {
  await bothWays(async (data) => {
    const lines = (await turnlog(['log', '--from', '3', '--json', '--data', data])).stdout.trim().split('\n');
    assert.equal(
      lines.map((line) => JSON.parse(line).type),
      ['turn_started', 'turn_ended'],
    );
    const words = await turnlog(['log', '--data', data]);
    assert.is(words.stdout.trim().split('\n').length, 4);
    assert.not.match(words.stdout, '\u001b');
  });
});

test('log --follow: needs a daemon', async () => {
  await withData(async (data) => {
    const alone = await turnlog(['log', '--follow', '--data', data]);
    assert.is(alone.exitCode, EXIT.failed);
    assert.match(alone.stderr, /nothing to follow/);
  });
});

test('rebuild: makes the projections anew, and checks that they are what they should be', async () => {
  await bothWays(async (data) => {
    assert.is((await turnlog(['rebuild', '--data', data])).exitCode, EXIT.ok);
    const checked = await turnlog(['rebuild', '--check', '--json', '--data', data]);
    assert.is(checked.exitCode, EXIT.ok, checked.stdout);
    const { projections } = JSON.parse(checked.stdout);
    assert.ok(projections.every(({ equal }: { equal: boolean }) => equal));
  });
});

test('colour: only on a terminal, and never with NO_COLOR', async () => {
  await withData(async (data) => {
    const show = ['show', KEY, '--data', data];
    assert.match((await turnlog(show, { isTTY: true })).stdout, '\u001b[');
    assert.not.match((await turnlog(show, { isTTY: true, env: { NO_COLOR: '1' } })).stdout, '\u001b[');
    assert.not.match((await turnlog(show)).stdout, '\u001b[');
  });
});

test('width: a line fits the terminal, and is whole elsewhere', async () => {
  await withData(async (data) => {
    const narrow = await turnlog(['log', '--data', data], {
      isTTY: true,
      columns: 70,
      env: { NO_COLOR: '1' },
    });
    for (const line of narrow.stdout.trimEnd().split('\n')) assert.ok(line.length <= 70, line);
    assert.match((await turnlog(['log', '--data', data])).stdout, 'two\\nlines');
  });
});

test('usage: a mistyped command or option is said so, with a status of its own', async () => {
  for (const arguments_ of [
    ['nonsense'],
    ['show'],
    ['status', '--nonsense'],
    ['log', '--from', '0'],
    ['serve', '--port', 'x'],
  ]) {
    const done = await turnlog(arguments_);
    assert.is(done.exitCode, EXIT.usage, arguments_.join(' '));
    assert.ok(done.stderr.length > 0);
    assert.is(done.stdout, '');
  }
  assert.is((await turnlog(['--help'])).exitCode, EXIT.ok);
  assert.is((await turnlog(['--version'])).exitCode, EXIT.ok);
});

test('nothing there: reading says so, and makes nothing', async () => {
  await withDirectory(async (directory) => {
    for (const command of [
      ['status'],
      ['conversations'],
      ['show', 'x'],
      ['replay', 'x'],
      ['log'],
      ['clear', 'x'],
      ['reset', 'x'],
      ['rebuild'],
      ['verify'],
    ]) {
      const done = await turnlog([...command, '--json'], { env: { TURNLOG_DATA: directory } });
      assert.is(done.exitCode, EXIT.failed);
      assert.is(JSON.parse(done.stderr).error.code, 'invalid_argument');
    }
    assert.equal(await readdir(directory), []);
  });
});

test('locked: while a daemon of another kind holds the directory, the command says which process', async () => {
  await withData(async (data) => {
    const daemon = await openDaemon({ dataDirectory: data });
    try {
      const done = await turnlog(['status', '--data', data]);
      assert.is(done.exitCode, EXIT.locked, done.stderr);
      assert.match(done.stderr, String(process.pid));
    } finally {
      await daemon.close();
    }
  });
});

test('daemon: found by its address only while that process runs', async () => {
  await withData(async (data) => {
    assert.is(await findDaemon(data), undefined);
    const running = await serve({ dataDirectory: data, port: 0 });
    assert.is((await findDaemon(data))?.address, running.url);
    await running.stop();
    assert.is(await findDaemon(data), undefined);
  });
});

test.run();
