// Builds the workspace when one of its sources is newer than the last build.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const entry = join(root, 'packages/cli/dist/main.js');
const stamp = join(root, 'packages/cli/dist/.built');

/**
 * Silent when all goes well; what the compiler has to say goes to stderr and ends the process.
 * @returns the path of the built command
 */
export function buildIfStale() {
  const startedAt = new Date();
  if (isBuilt() && statSync(stamp).mtimeMs >= newestSourceMs()) return entry;
  if (process.stderr.isTTY) process.stderr.write('building turnlog …\n');
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const build = spawnSync(process.execPath, [compiler, '--build'], { cwd: root, encoding: 'utf8' });
  if (build.status !== 0) {
    process.stderr.write(`${build.stdout ?? ''}${build.stderr ?? ''}turnlog could not be built\n`);
    process.exit(1);
  }
  writeFileSync(stamp, '');
  // A source that changed while the compiler ran is newer than this.
  utimesSync(stamp, startedAt, startedAt);
  return entry;
}

/** Of everything that is built, which is everything that is published. */
export function packageDirectories() {
  return ['packages', 'services'].flatMap((group) =>
    readdirSync(join(root, group))
      .map((name) => join(root, group, name))
      .filter((directory) => existsSync(join(directory, 'tsconfig.json'))),
  );
}

/** A package whose output was taken away is not built, whatever the stamp says. */
function isBuilt() {
  return (
    existsSync(stamp) &&
    packageDirectories().every((directory) => existsSync(join(directory, 'dist/index.js')))
  );
}

function newestSourceMs() {
  const settings = ['tsconfig.base.json', 'tsconfig.json', 'pnpm-lock.yaml'].map((name) => join(root, name));
  const sources = packageDirectories().flatMap((directory) => [
    join(directory, 'package.json'),
    join(directory, 'tsconfig.json'),
    ...readdirSync(join(directory, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => join(directory, 'src', name)),
  ]);
  return Math.max(...[...settings, ...sources].map((path) => statSync(path).mtimeMs));
}
