import ts from 'typescript';
import { isTestCode, isTypeScript, type SourceFile, type Violation } from './source-file.ts';

export const SOURCE_LINES_MAX = 250;
export const TEST_LINES_MAX = 400;

/** Files that are longer all the same, each with the reason. */
export const LONGER: Readonly<Record<string, string>> = {};

export function sizeViolations(
  files: SourceFile[],
  longer: Readonly<Record<string, string>> = LONGER,
): Violation[] {
  const code = files.filter(({ path }) => /\.(ts|mjs|cjs)$/.test(path));
  const paths = new Set(code.map(({ path }) => path));
  return [
    ...code.flatMap(({ path, text }) => {
      const lines = text.trimEnd().split('\n').length;
      const most = isTestCode(path) ? TEST_LINES_MAX : SOURCE_LINES_MAX;
      return lines > most && !Object.hasOwn(longer, path)
        ? [`${path}: has ${lines} lines, at most ${most} are allowed`]
        : [];
    }),
    ...Object.keys(longer)
      .filter((path) => !paths.has(path))
      .map((path) => `${path}: is an exception for a file that is not there`),
  ];
}

/** A test file that does not run its suite passes without a test. */
export function testFileViolations(files: SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => path.endsWith('.test.ts'))
    .flatMap(({ path, text }) => [
      ...(/^\w+\.run\(\);$/m.test(text) ? [] : [`${path}: does not call test.run()`]),
      ...(/\b\w+\.only\(/.test(text) ? [`${path}: runs only some of its tests`] : []),
    ]);
}

interface TextRule {
  pattern: RegExp;
  says: string;
  appliesTo(file: SourceFile): boolean;
}

// Written so that no pattern matches its own source.
const TEXT_RULES: readonly TextRule[] = [
  {
    pattern: /\b(TO[D]O|FIX[M]E|XX[X])\b/,
    says: 'has a note of unfinished work',
    appliesTo: ({ path }) => path !== 'pnpm-lock.yaml',
  },
  {
    pattern: /(?<![\w.])\/[w]ork\b/,
    says: 'names a directory of one machine',
    appliesTo: () => true,
  },
  {
    pattern: /@ts-(ignor[e]|nochec[k])/,
    says: 'switches the type checker off',
    appliesTo: isTypeScript,
  },
  {
    pattern: /\bconsole\.\w+\(/,
    says: 'writes to the console, which is for the command line to do',
    appliesTo: (file) =>
      isTypeScript(file) && !isTestCode(file.path) && !file.path.startsWith('packages/cli/'),
  },
];

export function textViolations(files: SourceFile[]): Violation[] {
  return files.flatMap((file) =>
    TEXT_RULES.filter(({ appliesTo, pattern }) => appliesTo(file) && pattern.test(file.text)).map(
      ({ says, pattern }) => `${file.path}:${lineOf(file.text, pattern)}: ${says}`,
    ),
  );
}

function lineOf(text: string, pattern: RegExp): number {
  return text.slice(0, text.search(pattern)).split('\n').length;
}

/** The type that switches every check off has no place, not in tests either. */
export function looseTypeViolations(files: SourceFile[]): Violation[] {
  return files.filter(isTypeScript).flatMap(({ path, text }) => {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023);
    const found: Violation[] = [];
    const visit = (node: ts.Node): void => {
      if (node.kind === ts.SyntaxKind.AnyKeyword) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
        found.push(`${path}:${line + 1}: uses the type "any"`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}
