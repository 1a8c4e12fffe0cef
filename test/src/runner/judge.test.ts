import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type FileRun, judge, linesOf, SKIPPED_MARK } from './judge.ts';

const TIMEOUT_MS = 600_000;

/** uvu's closing lines, as it writes them to a terminal. */
function closing(total: number, passed: number, skipped = 0): string {
  return `\n  Total:     ${total}\n\u001b[32m  Passed:    ${passed}\u001b[39m\n  Skipped:   ${skipped}\n  Duration:  1.0ms\n\n`;
}

function judged(run: Partial<FileRun>) {
  return judge(
    {
      path: 'packages/log/src/x.test.ts',
      output: '',
      exitCode: 0,
      signal: null,
      timedOut: false,
      leftBehind: false,
      durationMs: 1234,
      ...run,
    },
    TIMEOUT_MS,
  );
}

test('judge: tests that passed are counted', () => {
  const result = judged({ output: `• •   (2 / 2)\n${closing(2, 2)}` });
  assert.equal([result.passed, result.failed, result.problems], [2, 0, []]);
  assert.equal(linesOf(result), ['ok    packages/log/src/x.test.ts  2 passed  1.2 s']);
});

test('judge: tests that failed are counted, and their output is shown whole', () => {
  const output = `• ✘   (1 / 2)\n   FAIL  "it"\n${closing(2, 1)}`;
  const result = judged({ output, exitCode: 1 });
  assert.equal([result.passed, result.failed, result.problems], [1, 1, []]);
  assert.ok(linesOf(result).join('\n').includes(output.trimEnd()));
});

test('judge: a failed test counts even if the file then ends with 0', () => {
  assert.is(judged({ output: closing(2, 1), exitCode: 0 }).failed, 1);
});

test('judge: a file that runs no test has failed', () => {
  const result = judged({ output: closing(0, 0) });
  assert.is(result.failed, 1);
  assert.match(result.problems.join(), /ran no test: is test\.run\(\) missing/);
});

test('judge: a file whose tests are all skipped has not failed', () => {
  assert.is(judged({ output: closing(0, 0, 2) }).failed, 0);
});

test('judge: a file that ends before uvu reports has failed', () => {
  for (const [exitCode, why] of [
    [0, /is test\.run\(\) missing/],
    [1, /never settled/],
  ] as const) {
    const result = judged({ output: '• ', exitCode });
    assert.is(result.failed, 1);
    assert.match(result.problems.join(), why);
  }
});

test('judge: a bad end is a failure although every test passed', () => {
  assert.is(judged({ output: closing(2, 2), exitCode: 1 }).failed, 1);
  const killed = judged({ output: closing(2, 2), exitCode: null, signal: 'SIGSEGV' });
  assert.is(killed.failed, 1);
  assert.match(killed.problems.join(), /SIGSEGV/);
});

test('judge: a time-out is one failure and says how long it was', () => {
  const result = judged({ output: '• ', exitCode: null, signal: 'SIGKILL', timedOut: true });
  assert.is(result.failed, 1);
  assert.match(result.problems.join(), /10 minutes/);
});

test('judge: a process left behind is a failure beside tests that passed', () => {
  const result = judged({ output: closing(2, 2), leftBehind: true });
  assert.equal([result.passed, result.failed], [2, 1]);
});

test('judge: only the last closing lines count, for a test may print such lines', () => {
  assert.equal(judged({ output: closing(9, 9) + closing(3, 2), exitCode: 1 }).failed, 1);
});

test('judge: skipped tests are said by name, and those without one by number', () => {
  const result = judged({ output: `${SKIPPED_MARK}log: a thing\n• \n${closing(1, 1, 3)}` });
  assert.equal(result.skippedNames, ['log: a thing']);
  assert.equal(linesOf(result).slice(1), [
    '      skipped: log: a thing',
    '      skipped: 2 whose name is not known',
  ]);
});

test.run();
