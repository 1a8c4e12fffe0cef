import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { serviceManagerOf } from './notify.ts';
import { ManualEnvironment } from './testing.ts';

const PID = 4711;

/** A `systemd-notify` that writes down what it is called with, and its environment. */
const FAKE = `#!/bin/sh
echo "$NOTIFY_SOCKET: $*" >>"$(dirname "$0")/calls"
[ -z "$WATCHDOG_USEC" ] || echo 'inherited WATCHDOG_USEC' >>"$(dirname "$0")/calls"
`;

async function withFake(
  script: string,
  task: (scene: {
    path: string;
    calls(): string[];
    errors: string[];
    onFailure(error: Error): void;
  }) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'turnlog-notify-'));
  const calls = join(directory, 'calls');
  const errors: string[] = [];
  try {
    writeFileSync(join(directory, 'systemd-notify'), script, { mode: 0o755 });
    await task({
      path: `${directory}:${process.env.PATH}`,
      calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
      errors,
      onFailure: (error) => errors.push(error.message),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test('notify: systemd hears of the start, of life at half its interval, and of the stop, in order', async () => {
  await withFake(FAKE, async ({ path, calls, errors, onFailure }) => {
    const environment = new ManualEnvironment();
    const variables = {
      NOTIFY_SOCKET: '/run/s',
      WATCHDOG_USEC: '60000000',
      WATCHDOG_PID: `${PID}`,
      PATH: path,
    };
    const manager = serviceManagerOf(variables, {
      pid: PID,
      onFailure,
      after: (delayMs, run) => environment.after(delayMs, run),
    });
    assert.equal(Object.keys(variables), ['PATH'], 'no child of the daemon may speak for it');
    await manager.ready('listens on http://127.0.0.1:7717');
    await environment.pass(29_999);
    await environment.pass(1);
    await environment.pass(30_000);
    await manager.stopping();
    await environment.pass(120_000);
    await delay(50);
    assert.equal(errors, []);
    assert.equal(calls(), [
      '/run/s: READY=1 STATUS=listens on http://127.0.0.1:7717',
      '/run/s: WATCHDOG=1',
      '/run/s: WATCHDOG=1',
      '/run/s: STOPPING=1 STATUS=finishing what was accepted',
    ]);
  });
});

test('notify: without a manager, or with a watchdog over another process, nothing is sent that nobody waits for', async () => {
  await withFake(FAKE, async ({ path, calls, onFailure }) => {
    const environment = new ManualEnvironment();
    const options = {
      pid: PID,
      onFailure,
      after: (delayMs: number, run: () => void) => environment.after(delayMs, run),
    };
    const alone = serviceManagerOf({ PATH: path, WATCHDOG_USEC: '1000000' }, options);
    await alone.ready('up');
    await environment.pass(10_000);
    await alone.stopping();
    assert.equal(calls(), []);

    const variables = { PATH: path, NOTIFY_SOCKET: '@s', WATCHDOG_USEC: '1000000', WATCHDOG_PID: '1' };
    const child = serviceManagerOf(variables, options);
    await child.ready('up');
    await environment.pass(10_000);
    await child.stopping();
    assert.is(calls().length, 2);
  });
});

test('notify: a message that could not be sent is told, and the next one is tried', async () => {
  await withFake('#!/bin/sh\necho "no such socket" >&2\nexit 1\n', async ({ path, errors, onFailure }) => {
    const manager = serviceManagerOf({ PATH: path, NOTIFY_SOCKET: '/run/s' }, { onFailure });
    await manager.ready('up');
    await manager.stopping();
    assert.is(errors.length, 2);
    assert.match(errors[0] ?? '', /READY=1.*no such socket/);
  });
  const errors: string[] = [];
  const manager = serviceManagerOf(
    { PATH: '/nonexistent', NOTIFY_SOCKET: '/run/s' },
    { onFailure: ({ message }) => errors.push(message) },
  );
  await manager.ready('up');
  assert.match(errors.join(), /ENOENT/);
});

/** Both are of systemd: the sender, and what hands the datagrams of a socket to a program. */
const hasSystemd = ['systemd-notify', 'systemd-socket-activate'].every(
  (command) => spawnSync(command, ['--version']).status === 0,
);
const withSystemd = hasSystemd ? test : test.skip;

withSystemd(
  `notify: a datagram arrives through systemd's own command${hasSystemd ? '' : ' (no systemd here)'}`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'turnlog-notify-'));
    const socket = join(directory, 'socket');
    const received = join(directory, 'received');
    const errors: string[] = [];
    let listener: ChildProcess | undefined;
    try {
      const receive = ['sh', '-c', 'exec cat >"$0"', received];
      listener = spawn('systemd-socket-activate', ['--datagram', '--inetd', '-l', socket, ...receive], {
        stdio: 'ignore',
      });
      const ended = once(listener, 'exit');
      await until(() => existsSync(socket));
      const manager = serviceManagerOf(
        { NOTIFY_SOCKET: socket, PATH: process.env.PATH },
        { onFailure: ({ message }) => errors.push(message) },
      );
      await manager.ready('listens');
      await manager.stopping();
      await until(() => existsSync(received) && readFileSync(received, 'utf8').includes('STOPPING=1'));
      assert.equal(errors, []);
      assert.match(readFileSync(received, 'utf8'), /^READY=1\nSTATUS=listens.*STOPPING=1\n/s);
      listener.kill('SIGKILL');
      await ended;
    } finally {
      listener?.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

async function until(holds: () => boolean): Promise<void> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 20) {
    if (holds()) return;
    await delay(20);
  }
  throw new Error('what was waited for did not come about');
}

test.run();
