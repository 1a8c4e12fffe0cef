import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Host } from './support/daemon-in-process.ts';
import { spawnTurnlog, withDirectory } from './support/daemon-process.ts';

/** More than a pipe holds, so that the writer waits for its reader. */
const TURNS = 300;

async function fill(dataDirectory: string): Promise<void> {
  const host = await Host.open(dataDirectory);
  try {
    await host.record('one', 'codex', 'thread:a');
    const turns = Array.from({ length: TURNS }, (_, turn) => [
      { type: 'turn_start', turnId: `t${turn}` },
      { type: 'turn_end', turnId: `t${turn}`, text: 'x'.repeat(2_000) },
    ]);
    await host.report('one', ...turns.flat());
    // A pause, which a slow replay makes long: it is in it that the replay is interrupted.
    await delay(20);
    await host.report('one', { type: 'turn_end', turnId: 'last', text: 'end' });
  } finally {
    await host.daemon.close();
  }
}

test('command line: a reader that has seen enough ends it without a word', async () => {
  await withDirectory(async (directory) => {
    const data = join(directory, 'data');
    await fill(data);
    for (const command of [
      ['log', '--json'],
      ['replay', 'thread:a', '--speed', '0'],
      ['show', 'thread:a'],
    ]) {
      const child = spawnTurnlog([...command, '--data', data]);
      let stderr = '';
      child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
        stderr += chunk;
      });
      const closed = once(child, 'close') as Promise<[number | null]>;
      await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), closed]);
      child.stdout?.destroy();
      assert.is((await closed)[0], 0, `${command[0]}: ${stderr}`);
      assert.is(stderr, '', command[0]);
    }
  });
});

test('command line: Ctrl-C ends following with 0 and a replay with 130', async () => {
  await withDirectory(async (directory, start) => {
    await fill(join(directory, 'data'));
    await start();
    for (const [command, expected] of [
      [['log', '--follow'], 0],
      [['replay', 'thread:a', '--speed', '0.001'], 130],
    ] as const) {
      const child = spawnTurnlog([...command, '--data', join(directory, 'data')]);
      const closed = once(child, 'close') as Promise<[number | null]>;
      child.stderr?.resume();
      await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), closed]);
      child.stdout?.resume();
      child.kill('SIGINT');
      assert.is((await closed)[0], expected, command[0]);
    }
  });
});

test.run();
