import { join } from 'node:path';
import { openDaemon, serve } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EXIT } from '../exit-codes.ts';
import { bothWays, Captured, KEY, turnlog, withData, withDirectory } from '../testing/run-command.ts';

test('clear: takes what a conversation holds, and says how to see it still', async () => {
  await bothWays(async (data) => {
    const done = await turnlog(['clear', KEY, '--data', data]);
    assert.is(done.exitCode, EXIT.ok, done.stderr);
    assert.match(done.stdout, /is cleared; its 2 messages can still be seen with --at 4/);
    assert.not.match(done.stdout, /[\u001b\u0007]/);
    assert.match((await turnlog(['show', KEY, '--data', data])).stdout, /is empty/);
    assert.match((await turnlog(['show', KEY, '--at', '4', '--data', data])).stdout, /two\nlines/);
    assert.match((await turnlog(['clear', KEY, '--data', data])).stdout, /was empty already/);
    const json = JSON.parse((await turnlog(['clear', KEY, '--json', '--data', data])).stdout);
    assert.equal(json, { conversationKey: KEY, messages: 0, seq: json.seq });
  });
});

test('clear: a key of which nothing is known is refused, and nothing is written', async () => {
  await bothWays(async (data) => {
    const done = await turnlog(['clear', 'thread:typo', '--data', data]);
    assert.is(done.exitCode, EXIT.failed);
    assert.match(done.stderr, /conversation_not_found/);
    assert.is(JSON.parse((await turnlog(['status', '--json', '--data', data])).stdout).seq, 4);
  });
});

test('reset: forgets the session, and with --conversation the conversation', async () => {
  await bothWays(async (data) => {
    const sessionKey = `${KEY.slice('thread:'.length)}:codex`;
    const done = await turnlog(['reset', sessionKey, '--data', data]);
    assert.is(done.exitCode, EXIT.ok, done.stderr);
    assert.match(done.stdout, /nothing was known of it/);
    assert.not.match(done.stdout, /[\u001b\u0007]/);
    assert.match((await turnlog(['show', KEY, '--data', data])).stdout, /two\nlines/);
    const all = await turnlog(['reset', sessionKey, '--conversation', KEY, '--json', '--data', data]);
    assert.equal(JSON.parse(all.stdout).before, {});
    assert.match((await turnlog(['show', KEY, '--data', data])).stdout, /is empty/);
  });
});

test('verify: says that every event is whole', async () => {
  await bothWays(async (data) => {
    const done = await turnlog(['verify', '--data', data]);
    assert.is(done.exitCode, EXIT.ok, done.stderr);
    assert.is(done.stdout, 'all 4 events are whole\n');
    const json = JSON.parse((await turnlog(['verify', '--json', '--data', data])).stdout);
    assert.is(json.events, 4);
    assert.equal(json.problems, []);
  });
});

test('rebuild --only: makes those anew and no others, and names those that there are', async () => {
  await bothWays(async (data) => {
    const some = await turnlog(['rebuild', '--only', 'sessions', 'bridges', '--json', '--data', data]);
    assert.is(some.exitCode, EXIT.ok, some.stderr);
    assert.equal(
      JSON.parse(some.stdout).projections.map(({ name }: { name: string }) => name),
      ['sessions', 'bridges'],
    );
    const none = await turnlog(['rebuild', '--only', 'session', '--data', data]);
    assert.is(none.exitCode, EXIT.failed);
    assert.match(none.stderr, /use conversations, sessions/);
  });
});

test('log: only the events of a stream or of a type', async () => {
  await bothWays(async (data) => {
    const typesOf = async (...options: string[]) =>
      (await turnlog(['log', '--json', '--data', data, ...options])).stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line).type);
    assert.equal(await typesOf('--type', 'turn_ended'), ['turn_ended']);
    assert.is((await typesOf('--stream', `conversation:${KEY}`)).length, 4);
    assert.equal(await typesOf('--stream', 'conversation:other'), []);
    assert.equal(
      await typesOf('--stream', `conversation:${KEY}`, '--type', 'turn_started', '--from', '4'),
      [],
    );
    const unknown = await turnlog(['log', '--type', 'turn_finished', '--data', data]);
    assert.is(unknown.exitCode, EXIT.usage);
    assert.match(unknown.stderr, /turn_ended/);
  });
});

test('log --follow: goes on as events come, lets through what is wanted, and Ctrl-C is its end', async () => {
  await withData(async (data) => {
    const running = await serve({ dataDirectory: data, port: 0 });
    try {
      const stdout = new Captured(false, 80);
      const arguments_ = ['log', '--follow', '--type', 'turn_started', '--json', '--data', data];
      const following = turnlog(arguments_, { stdout });
      await stdout.until(/"t1"/);
      const events = [{ type: 'turn_start', turnId: 't2' }];
      await running.daemon.dispatcher.call('bridge.event', { bridgeId: 'b', events });
      await stdout.until(/"t2"/);
      process.kill(process.pid, 'SIGINT');
      const done = await following;
      assert.is(done.exitCode, EXIT.ok, done.stderr);
      assert.is(done.stdout.trim().split('\n').length, 2);
    } finally {
      await running.stop();
    }
  });
});

test('config: every value and where it comes from', async () => {
  await withDirectory(async (directory) => {
    const env = { TURNLOG_PORT: '7000' };
    const json = JSON.parse((await turnlog(['config', '--json', '--data', directory], { env })).stdout);
    assert.equal(json.settings.data, { value: directory, from: 'flag', name: '--data' });
    assert.equal(json.settings.port, { value: 7000, from: 'environment', name: 'TURNLOG_PORT' });
    assert.equal(json.settings.host, { value: '127.0.0.1', from: 'default' });
    assert.ok(json.file.exists);
    const words = await turnlog(['config', '--log-level', 'debug'], { env });
    assert.match(words.stdout, /port +7000 +environment TURNLOG_PORT/);
    assert.match(words.stdout, /logLevel +debug +flag --log-level/);
  });
});

test('config: a wrong environment is said so by every command', async () => {
  const done = await turnlog(['status', '--json'], { env: { TURNLOG_PORT: 'x' } });
  assert.is(done.exitCode, EXIT.failed);
  assert.is(JSON.parse(done.stderr).error.code, 'invalid_argument');
});

test('usage: what is near a mistyped command or option is named, as JSON where that is asked for', async () => {
  assert.match((await turnlog(['statsu'])).stderr, /Did you mean status\?/);
  assert.match((await turnlog(['show', 'x', '--att', '3'])).stderr, /Did you mean --at\?/);
  const json = await turnlog(['rebuild', '--chek', '--json']);
  assert.is(json.exitCode, EXIT.usage);
  const { error } = JSON.parse(json.stderr);
  assert.is(error.code, 'invalid_argument');
  assert.match(error.message, /--chek.*\n?.*--check/);
  const evil = await turnlog(['\u001b[2J', '--json']);
  assert.not.match(evil.stderr, '\u001b');
  assert.not.match((await turnlog(['\u001b[2J'])).stderr, '\u001b');
});

test('damage: a store that is damaged ends a command with a status of its own', async () => {
  await withDirectory(async (directory) => {
    const data = join(directory, 'data');
    const daemon = await openDaemon({ dataDirectory: data });
    await daemon.close();
    const { rm } = await import('node:fs/promises');
    await rm(join(data, 'log'), { recursive: true });
    const done = await turnlog(['verify', '--json', '--data', data]);
    assert.is(done.exitCode, EXIT.different, done.stderr);
    assert.is(JSON.parse(done.stderr).error.code, 'store_damaged');
  });
});

test.run();
