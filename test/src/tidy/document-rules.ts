import type { SourceFile, Violation } from './source-file.ts';

/** What a reader must find at the top of the workspace. */
const TOP_LEVEL = [
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  '.ci/run',
  'package.json',
  'pnpm-workspace.yaml',
  'tsconfig.base.json',
];

export function topLevelViolations(files: SourceFile[]): Violation[] {
  const paths = new Set(files.map(({ path }) => path));
  const license = files.find(({ path }) => path === 'LICENSE')?.text ?? '';
  return [
    ...TOP_LEVEL.filter((path) => !paths.has(path)).map((path) => `${path}: is missing`),
    ...(license.startsWith('MIT License') ? [] : ['LICENSE: is not the MIT licence']),
  ];
}

/** A reader of README.md finds each of these names, written as code. */
export function unlistedNames(files: SourceFile[], kind: string, names: readonly string[]): Violation[] {
  const readme = files.find(({ path }) => path === 'README.md')?.text ?? '';
  return names
    .filter((name) => !readme.includes(`\`${name}\``))
    .map((name) => `README.md: does not list the ${kind} \`${name}\``);
}
