import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const NEVER = new Set(['node_modules', 'dist', 'coverage', '.git']);

/**
 * The files below some directories, in the order of their names.
 * @returns paths relative to the root, with `/` between their parts
 */
export function filesUnder(
  root: string,
  directories: string[],
  accepts: (path: string) => boolean,
): string[] {
  const found: string[] = [];
  const waiting = directories.filter((directory) => existsSync(join(root, directory)));
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
      const path = directory === '.' ? entry.name : `${directory}/${entry.name}`;
      if (entry.isDirectory() && !NEVER.has(entry.name)) waiting.push(path);
      if (entry.isFile() && accepts(path)) found.push(path);
    }
  }
  return found.sort();
}

/** Whether a path is that of a test file of the workspace. */
export function isTestFile(path: string): boolean {
  return /^((packages|services)\/[^/]+|test|bench)\/src\/.*\.test\.ts$/.test(path);
}
