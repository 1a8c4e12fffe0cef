// Packs what is published, all packages of one version, into a directory:
//   npx -y pnpm@10 tarballs <directory> [--no-check]
// They depend on each other by exact version, so they are published, or installed, together.
// With --no-check the types are written but not checked, which is for whoever has checked them already.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packageDirectories } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  options: { 'no-check': { type: 'boolean' } },
  allowPositionals: true,
});
const [destination] = positionals;
if (destination === undefined || positionals.length > 1) {
  process.stderr.write('usage: tarballs <directory> [--no-check]\n');
  process.exit(64);
}
mkdirSync(destination, { recursive: true });

// The compiler leaves what it once wrote; a file whose source is gone must not be published.
for (const directory of packageDirectories())
  rmSync(join(directory, 'dist'), { recursive: true, force: true });
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
run(process.execPath, [compiler, '--build', ...(values['no-check'] ? ['--noCheck'] : [])]);

const pnpm = process.env.npm_execpath ?? '';
const [command, before] = /pnpm\.c?js$/.test(pnpm) ? [process.execPath, [pnpm]] : ['npx', ['-y', 'pnpm@10']];
const published = ['--recursive', '--filter', './packages/*', '--filter', './services/*'];
const packed = run(command, [
  ...before,
  ...published,
  'pack',
  '--json',
  '--pack-destination',
  resolve(destination),
]);
for (const { filename } of JSON.parse(packed)) process.stdout.write(`${filename}\n`);

/** @returns what the command wrote; where it fails, all it has to say is shown and this process ends as well */
function run(command, arguments_) {
  const { status, error, stdout } = spawnSync(command, arguments_, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  process.stderr.write(stdout);
  process.exit(status ?? 1);
}
