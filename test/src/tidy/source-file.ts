import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { filesUnder } from '../runner/files.ts';

/** A file of the workspace as the house rules see it. */
export interface SourceFile {
  /** Relative to the root, with `/` between its parts. */
  path: string;
  text: string;
}

/** A house rule that is broken, in words that say where and how: `path: what`. */
export type Violation = string;

const TEXT = /(^|\/)([^/]+\.(ts|mjs|cjs|js|json|ya?ml|md|service|conf)|run|LICENSE|\.npmrc|\.gitattributes)$/;

/** Every text file of the workspace that somebody wrote; fixtures are data and not among them. */
export function readWorkspace(root: string): SourceFile[] {
  return filesUnder(root, ['.'], (path) => TEXT.test(path) && !path.startsWith('test/fixtures/')).map(
    (path) => ({ path, text: readFileSync(join(root, path), 'utf8') }),
  );
}

/** TypeScript in a package, be it a source or a test. */
export function isTypeScript({ path }: SourceFile): boolean {
  return path.endsWith('.ts') && packageOf(path) !== undefined;
}

/** Tests, and what only they use: `testing/…`, `testing.ts`, `meter-testing.ts`, a `conformance.ts` for others. */
export function isTestCode(path: string): boolean {
  return (
    path.endsWith('.test.ts') ||
    /(\/testing\/|[/-](testing|conformance)\.ts$)/.test(path) ||
    /^(test|bench)\//.test(path)
  );
}

/** The directory of the package that a file belongs to: `packages/log`, `test`. */
export function packageOf(path: string): string | undefined {
  return /^((packages|services)\/[^/]+|test|bench)(?=\/)/.exec(path)?.[0];
}

/** What a file imports, as written: `./x.ts`, `@turnlog/log`, `node:fs`. Types and dynamic imports included. */
export function importsOf({ text }: SourceFile): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

/** Where a relative import leads, from the root. */
export function targetOf(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

/** `@turnlog/log/conformance` is of `@turnlog/log`, `fastify/types` of `fastify`. */
export function packageNameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

export interface Manifest {
  /** The directory it is in. */
  directory: string;
  name: string;
  exports: Record<string, unknown>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

export function manifestsOf(files: SourceFile[]): Manifest[] {
  return files
    .filter(({ path }) => /(^|\/)package\.json$/.test(path))
    .map(({ path, text }) => ({
      exports: {},
      dependencies: {},
      devDependencies: {},
      ...(JSON.parse(text) as { name: string }),
      directory: posix.dirname(path),
    }));
}
