import { openDaemon } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EXIT } from '../exit-codes.ts';
import { bothWays, Captured, KEY, turnlog, withData } from '../testing/run-command.ts';

test('replay: the live events in their order, a line each, with the time of each', async () => {
  await bothWays(async (data) => {
    const done = await turnlog(['replay', KEY, '--speed', '0', '--json', '--data', data]);
    assert.is(done.exitCode, EXIT.ok, done.stderr);
    const events = done.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const turn = events.filter(({ type }) => /^(turn|text)/.test(type));
    assert.equal(
      turn.map(({ type }) => type),
      ['turn_start', 'turn_end'],
    );
    assert.is(turn[1].text, 'two\nlines');
    assert.ok(turn.every(({ at, bridgeId }) => at > 0 && bridgeId === 'b'));
  });
});

test('replay: what was said, in words that do nothing to the terminal', async () => {
  await bothWays(async (data) => {
    const done = await turnlog(['replay', KEY, '--speed', '0', '--data', data]);
    assert.is(done.exitCode, EXIT.ok, done.stderr);
    assert.match(done.stdout, /user\nhello\\x1b\[2J\n\nassistant\ntwo\nlines\n/);
    assert.not.match(done.stdout, /[\u001b\u0007]/);
  });
});

test('replay: a conversation that is not there is said so', async () => {
  await bothWays(async (data) => {
    const done = await turnlog(['replay', 'thread:other', '--json', '--data', data]);
    assert.is(done.exitCode, EXIT.failed);
    assert.is(JSON.parse(done.stderr).error.code, 'conversation_not_found');
  });
});

/** A second turn, an hour later by the clock of the log. */
async function addLaterTurn(data: string): Promise<void> {
  const now = Date.now() + 3_600_000;
  const daemon = await openDaemon({
    dataDirectory: data,
    environment: { now: () => now, after: () => () => {}, newId: () => 'id' },
  });
  try {
    const events = [
      { type: 'turn_start', turnId: 't2' },
      { type: 'turn_end', turnId: 't2', text: 'later' },
    ];
    await daemon.dispatcher.call('bridge.event', { bridgeId: 'b', events });
  } finally {
    await daemon.close();
  }
}

test('replay: waits as it went, not longer than a moment, and Ctrl-C ends it with 130', async () => {
  await withData(async (data) => {
    await addLaterTurn(data);
    const fast = await turnlog(['replay', KEY, '--speed', '0', '--data', data]);
    assert.match(fast.stdout, 'later');

    const stdout = new Captured(false, 80);
    const running = turnlog(['replay', KEY, '--data', data], { stdout });
    await stdout.until(/two\nlines/);
    const before = process.listenerCount('SIGINT');
    process.kill(process.pid, 'SIGINT');
    const done = await running;
    assert.is(before, 1);
    assert.is(process.listenerCount('SIGINT'), 0);
    assert.is(done.exitCode, 130);
    assert.is(done.stderr, '');
    assert.not.match(done.stdout, 'later');
  });
});

test('replay: a speed that is none is a mistyped command', async () => {
  for (const speed of ['-1', 'fast', '1e3', '1001']) {
    assert.is((await turnlog(['replay', 'x', '--speed', speed])).exitCode, EXIT.usage, speed);
  }
});

test.run();
