/** How the process of one test file ended. */
export interface FileRun {
  /** Relative to the root of the workspace. */
  path: string;
  /** What it wrote to stdout and stderr, in order. */
  output: string;
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  /** It ended, but something that it had started was still running. */
  leftBehind: boolean;
  durationMs: number;
}

export interface FileResult {
  path: string;
  passed: number;
  failed: number;
  skipped: number;
  skippedNames: string[];
  /** Why the file counts as failed where no test says so itself. */
  problems: string[];
  output: string;
  durationMs: number;
}

/** How a test file tells the name of a skipped test; see `preload.ts`. */
export const SKIPPED_MARK = 'skipped test: ';

/**
 * What a run says about its tests. The exit code is not enough: a file that forgets `test.run()` ends with
 * 0, and one whose test never settles ends without saying how many tests there were.
 * Each problem counts as one failed test.
 */
export function judge(run: FileRun, timeoutMs: number): FileResult {
  const output = withoutColours(run.output);
  const totals = totalsOf(output);
  const problems: string[] = [];

  if (run.timedOut) {
    problems.push(`took longer than ${timeoutMs / 60_000} minutes and was killed`);
  } else if (totals === undefined) {
    problems.push(`${endOf(run)} without a result: ${whyNoResult(run)}`);
  } else if (totals.total === 0 && totals.skipped === 0) {
    problems.push('ran no test: is test.run() missing?');
  } else if (totals.passed === totals.total && (run.exitCode !== 0 || run.signal !== null)) {
    problems.push(`${endOf(run)} although every test passed`);
  }
  if (run.leftBehind) problems.push('left a process running, which was killed');

  return {
    path: run.path,
    passed: totals?.passed ?? 0,
    failed: (totals === undefined ? 0 : totals.total - totals.passed) + problems.length,
    skipped: totals?.skipped ?? 0,
    skippedNames: skippedNamesOf(output),
    problems,
    output: run.output,
    durationMs: run.durationMs,
  };
}

/** The lines that show a result: one where all went well, else everything there is. */
export function linesOf(result: FileResult): string[] {
  const seconds = `${(result.durationMs / 1000).toFixed(1)} s`;
  const lines =
    result.failed === 0
      ? [`ok    ${result.path}  ${result.passed} passed  ${seconds}`]
      : [
          `FAIL  ${result.path}  ${result.passed} passed, ${result.failed} failed  ${seconds}`,
          ...result.problems.map((problem) => `      ${problem}`),
          ...result.output.trimEnd().split('\n'),
          `FAIL  end of ${result.path}`,
        ];
  return [...lines, ...skippedLines(result)];
}

function skippedLines({ skipped, skippedNames }: FileResult): string[] {
  const unnamed = skipped - skippedNames.length;
  return [
    ...skippedNames.map((name) => `      skipped: ${name}`),
    ...(unnamed > 0 ? [`      skipped: ${unnamed} whose name is not known`] : []),
  ];
}

interface Totals {
  total: number;
  passed: number;
  skipped: number;
}

/** uvu's closing lines; the last ones, for a test may print such lines itself. */
function totalsOf(output: string): Totals | undefined {
  const closing = /^ {2}Total: +(\d+)\n {2}Passed: +(\d+)\n {2}Skipped: +(\d+)$/gm;
  const last = [...output.matchAll(closing)].at(-1);
  return last && { total: Number(last[1]), passed: Number(last[2]), skipped: Number(last[3]) };
}

function skippedNamesOf(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith(SKIPPED_MARK))
    .map((line) => line.slice(SKIPPED_MARK.length));
}

function whyNoResult(run: FileRun): string {
  if (run.exitCode === 0) return 'is test.run() missing?';
  return 'a test never settled, or the file could not be loaded';
}

function endOf(run: FileRun): string {
  return run.signal === null ? `ended with exit code ${run.exitCode}` : `was ended by ${run.signal}`;
}

function withoutColours(text: string): string {
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}
