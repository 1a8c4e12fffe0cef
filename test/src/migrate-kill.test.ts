import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runTurnlog, spawnTurnlog, withDirectory } from './support/daemon-process.ts';

const USERDATA = fileURLToPath(new URL('../fixtures/crewcode-userdata/userdata', import.meta.url));
const ROUNDS = 6;

test('migrate: killed at any moment it goes on where it stopped, and brings in everything once', async () => {
  await withDirectory(async (directory) => {
    const whole = join(directory, 'whole');
    assert.is((await runTurnlog(['migrate', USERDATA, '--data', whole])).exitCode, 2);
    const expected = await eventsOf(whole);

    const data = join(directory, 'data');
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = spawnTurnlog(['migrate', USERDATA, '--data', data]);
      const exited = once(child, 'exit');
      child.stdout?.resume();
      child.stderr?.resume();
      // The later rounds are let go further: the first ones are hardly started.
      const timer = setTimeout(() => child.kill('SIGKILL'), 500 + round * 300 + Math.random() * 300);
      await exited;
      clearTimeout(timer);
    }
    const last = await runTurnlog(['migrate', USERDATA, '--data', data, '--json']);
    assert.is(last.exitCode, 2, last.stderr);
    const report = JSON.parse(last.stdout);
    assert.ok(report.completed === 'now' || report.completed === 'before', report.completed);
    assert.equal(await eventsOf(data), expected);
  });
});

/** Every event of a store by its id and stream, in an order that does not depend on when it came. */
async function eventsOf(data: string): Promise<string[]> {
  const { stdout, exitCode, stderr } = await runTurnlog(['log', '--json', '--data', data]);
  assert.is(exitCode, 0, stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { id, stream, type, data: content } = JSON.parse(line);
      return `${stream} ${type} ${id} ${JSON.stringify(content)}`;
    })
    .sort();
}

test.run();
