import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startCoverage } from './coverage.ts';
import { filesUnder, isTestFile } from './files.ts';
import { type FileResult, judge, linesOf } from './judge.ts';
import { runFile } from './run-file.ts';

const FILE_TIMEOUT_MS = 10 * 60_000;

/** A workspace whose tests can be run. */
export interface TestRun {
  root: string;
  /** Only files whose path holds one of these. Where there is none, all, and their coverage is measured. */
  filters: string[];
  parallel: number;
  timeoutMs: number;
  print(line: string): void;
  signal: AbortSignal;
}

/** @returns the exit code: 0 where something passed and nothing failed */
export async function runTests(run: TestRun): Promise<number> {
  const paths = filesUnder(run.root, ['test', 'packages', 'services', 'bench'], isTestFile)
    .filter((path) => run.filters.length === 0 || run.filters.some((filter) => path.includes(filter)))
    .sort(crossPackageFirst);
  if (paths.length === 0) {
    run.print(`no test file matches ${run.filters.join(', ')}`);
    run.print('0 passed, 1 failed');
    return 1;
  }
  const coverage = run.filters.length === 0 ? startCoverage(run.root) : undefined;
  const results = await runFiles(paths, run, { ...testEnvironment(), ...coverage?.env });
  const passed = sum(results, ({ passed }) => passed);
  let failed = sum(results, ({ failed }) => failed);

  if (coverage !== undefined && !run.signal.aborted) {
    const report = coverage.finish();
    for (const line of report.lines) run.print(line);
    if (report.failure !== undefined) {
      run.print(`FAIL  ${report.failure}`);
      failed += 1;
    }
  }
  const skipped = sum(results, ({ skipped }) => skipped);
  if (skipped > 0) run.print(`${skipped} skipped`);
  for (const result of results.filter(({ failed }) => failed > 0)) run.print(`FAIL  ${result.path}`);
  run.print(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function runFiles(paths: string[], run: TestRun, env: NodeJS.ProcessEnv): Promise<FileResult[]> {
  const waiting = [...paths];
  const results: FileResult[] = [];
  const worker = async () => {
    for (let path = waiting.shift(); path !== undefined && !run.signal.aborted; path = waiting.shift()) {
      const { root, timeoutMs, signal } = run;
      const result = judge(await runFile(path, { root, timeoutMs, signal, env }), timeoutMs);
      results.push(result);
      for (const line of linesOf(result)) run.print(line);
    }
  };
  await Promise.all(Array.from({ length: run.parallel }, worker));
  return results;
}

/** The tests that cross packages take longest, so they begin first. */
function crossPackageFirst(left: string, right: string): number {
  return Number(right.startsWith('test/')) - Number(left.startsWith('test/'));
}

/** What a terminal or a launcher put into the environment must not change what a test sees. */
function testEnvironment(): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _colour, NODE_OPTIONS: _options, ...env } = process.env;
  return env;
}

function sum<Item>(items: Item[], numberOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}

/** The test command. @param args parts of the paths of the files to run */
export async function main(args: string[]): Promise<number> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  const exitCode = await runTests({
    root: fileURLToPath(new URL('../../..', import.meta.url)).replace(/[\\/]$/, ''),
    filters: args.filter((arg) => arg !== '--'),
    parallel: availableParallelism(),
    timeoutMs: FILE_TIMEOUT_MS,
    print: (line) => process.stdout.write(`${line}\n`),
    signal: stop.signal,
  });
  return stop.signal.aborted ? 130 : exitCode;
}
