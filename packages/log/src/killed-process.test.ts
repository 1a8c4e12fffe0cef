import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLog } from './open-log.ts';
import { collect, inDirectory } from './testing/directory.ts';

const ROUNDS = 4;
const ACKNOWLEDGED_PER_ROUND = 150;
const ROUND_MS_MAX = 20_000;
const program = fileURLToPath(new URL('./testing/append-until-killed.ts', import.meta.url));

test('killed process: everything acknowledged is there once, without a gap, and found by its id', () =>
  inDirectory(async (directory) => {
    const acknowledged = new Map<string, number>();
    for (let round = 1; round <= ROUNDS; round++) {
      const before = acknowledged.size;
      await killUnderLoad(directory, round, acknowledged);
      assert.ok(acknowledged.size >= before + ACKNOWLEDGED_PER_ROUND);

      const log = await openLog({ directory, clock: Date.now });
      assert.not(log.opening.indexRebuilt);
      const events = await collect(log.read());
      assert.equal(
        events.map(({ seq }) => seq),
        events.map((_, place) => place + 1),
      );
      const ids = events.filter(({ type }) => type === 'said').map(({ id }) => id);
      assert.is(new Set(ids).size, ids.length);
      for (const [id, seq] of acknowledged) assert.is(events[seq - 1]?.id, id);

      const [id, seq] = [...acknowledged].at(-1) ?? ['', 0];
      const last = events[seq - 1];
      assert.ok(last);
      const again = await log.append(last.stream, [{ id, type: last.type, data: last.data }]);
      assert.equal([again.seq, again.duplicate], [seq, true]);
      assert.is((await collect(log.readStream(last.stream))).length, await log.revisionOf(last.stream));
      await log.close();
    }
  }));

/** Starts the program and kills it as soon as it has acknowledged enough. */
async function killUnderLoad(
  directory: string,
  round: number,
  acknowledged: Map<string, number>,
): Promise<void> {
  const flags = ['--conditions=turnlog-src', '--import', 'tsx'];
  const child = spawn(process.execPath, [...flags, program, directory, `${round}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const overdue = setTimeout(() => child.kill('SIGKILL'), ROUND_MS_MAX);
  try {
    const ended = new Promise((resolve) => child.once('close', resolve));
    let count = 0;
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [id = '', seq = ''] = line.split(' ');
        acknowledged.set(id, Number(seq));
        count += 1;
      }
      if (count >= ACKNOWLEDGED_PER_ROUND) child.kill('SIGKILL');
    });
    await ended;
  } finally {
    clearTimeout(overdue);
    child.kill('SIGKILL');
  }
}

test.run();
