import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { filesUnder } from './files.ts';

/** The share of the lines in `packages/*` that the tests must reach. */
export const LINES_PERCENT_MIN = 90;

interface Summary {
  lines: { total: number; covered: number; pct: number | 'Unknown' };
}

/**
 * Line coverage over all processes of a test run: Node.js writes what each one executed, those that
 * tests start included, and c8 puts it together. A process that was killed has written nothing, or half a
 * file, which c8 leaves out.
 */
export function startCoverage(root: string): { env: NodeJS.ProcessEnv; finish(): CoverageReport } {
  const directory = join(root, 'coverage');
  const temporary = join(directory, 'processes');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  return {
    env: { NODE_V8_COVERAGE: temporary },
    finish() {
      const problem = writeSummary(root, directory, temporary);
      if (problem !== undefined) return { failure: problem, lines: [] };
      const summary = join(directory, 'coverage-summary.json');
      return reportOf(JSON.parse(readFileSync(summary, 'utf8')) as Record<string, Summary>, root);
    },
  };
}

export interface CoverageReport {
  lines: string[];
  /** Why the coverage is not good enough. */
  failure?: string;
}

/** @param summary c8's `json-summary`: by absolute path, and `total` */
export function reportOf(summary: Record<string, Summary>, root: string): CoverageReport {
  const { total, ...files } = summary;
  if (total === undefined || typeof total.lines.pct !== 'number' || total.lines.total === 0) {
    return { lines: [], failure: 'coverage: nothing was measured' };
  }
  const low = Object.entries(files)
    .map(([path, { lines }]) => ({ path: path.replace(`${root}/`, ''), percent: Number(lines.pct) }))
    .filter(({ percent }) => percent < LINES_PERCENT_MIN)
    .sort((left, right) => left.percent - right.percent);
  const lines = [
    ...low.map(({ path, percent }) => `      ${percent.toFixed(1).padStart(5)} %  ${path}`),
    `coverage: ${total.lines.pct} % of the lines of packages/*, ${LINES_PERCENT_MIN} % are asked for`,
  ];
  if (total.lines.pct >= LINES_PERCENT_MIN) return { lines };
  const failure = `coverage: ${total.lines.pct} % of the lines is below ${LINES_PERCENT_MIN} %`;
  return { lines, failure };
}

function writeSummary(root: string, directory: string, temporary: string): string | undefined {
  const c8 = createRequire(import.meta.url).resolve('c8/bin/c8.js');
  const withoutCode = filesUnder(root, ['packages'], (path) => /\/src\/.*(?<!\.test)\.ts$/.test(path)).filter(
    (path) => !hasCode(readFileSync(join(root, path), 'utf8')),
  );
  const options = [
    `--temp-directory=${temporary}`,
    `--reports-dir=${directory}`,
    '--reporter=json-summary',
    '--all',
    '--src=packages',
    '--include=packages/*/src/**/*.ts',
    ...['**/*.test.ts', '**/testing/**', '**/*testing.ts', '**/conformance.ts', ...withoutCode].map(
      (path) => `--exclude=${path}`,
    ),
  ];
  const c8Run = spawnSync(process.execPath, ['--max-old-space-size=4096', c8, 'report', ...options], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NODE_V8_COVERAGE: '' },
  });
  if (c8Run.status === 0 && existsSync(join(directory, 'coverage-summary.json'))) return undefined;
  return `coverage: c8 ended with exit code ${c8Run.status}\n${c8Run.stdout}${c8Run.stderr}`;
}

/** Whether anything of a file is left to run once its types are gone; if not, no test could reach it. */
export function hasCode(source: string): boolean {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, removeComments: true },
  });
  return outputText.replace('export {};', '').trim() !== '';
}
