/**
 * What is published, as somebody gets it who has Node.js and npm and nothing of this workspace: packed from a
 * fresh copy, installed into an empty directory under an empty home, and used there.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entrypointOf } from './deploy/dockerfile.ts';
import { parseUnit } from './deploy/unit.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const typescript = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const directory = mkdtempSync(join(tmpdir(), 'turnlog-packed-'));
const workspace = join(directory, 'workspace');
const tarballs = join(directory, 'tarballs');
const home = join(directory, 'home');
/** What `/opt/turnlog` is on a server. */
const installed = join(directory, 'installed');

const STEP_TIMEOUT_MS = 300_000;
const LEFT_OUT = new Set(['.git', '.bench', 'node_modules', 'dist', 'coverage', 'fixtures']);

const execute = promisify(execFile);

/** Runs a command to its end; where it fails, the error holds what it wrote. */
async function run(
  command: string,
  arguments_: string[],
  cwd: string,
  env = plainEnvironment(),
): Promise<string> {
  const { stdout } = await execute(command, arguments_, { cwd, env, timeout: STEP_TIMEOUT_MS });
  return stdout;
}

/** The environment without what the launcher of this test put into it. The choice of a registry stays. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|pnpm_|turnlog_|xdg_|node_v8_coverage$|node_options$|init_cwd$)/i.test(name) ||
      /^npm_config_(registry|.*proxy|cafile)$/i.test(name),
  );
  return { ...Object.fromEntries(kept), NO_COLOR: '1' };
}

let elsewhere: NodeJS.ProcessEnv = {};
let packages: string[] = [];

test.before(async () => {
  for (const path of [tarballs, home, installed]) mkdirSync(path);
  cpSync(root, workspace, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  await run('npx', ['-y', 'pnpm@10', 'install', '--frozen-lockfile', '--prefer-offline'], workspace);
  await run('npx', ['-y', 'pnpm@10', 'tarballs', tarballs, '--no-check'], workspace);
  packages = readdirSync(tarballs).map((name) => join(tarballs, name));

  // An empty home, but the registry and the cache that npm has here.
  const [userconfig = '', cache = ''] = await Promise.all(
    ['userconfig', 'cache'].map(async (name) =>
      (await run('npm', ['config', 'get', name], directory)).trim(),
    ),
  );
  elsewhere = {
    ...plainEnvironment(),
    HOME: home,
    npm_config_userconfig: userconfig,
    npm_config_cache: cache,
  };
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--prefix', installed];
  await run('npm', ['install', ...options, ...packages], installed, elsewhere);
});

test.after(() => rmSync(directory, { recursive: true, force: true }));

interface InstalledManifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
}

function installedPackages(): { directory: string; manifest: InstalledManifest; files: string[] }[] {
  const modules = join(installed, 'node_modules');
  const scoped = readdirSync(join(modules, '@turnlog')).map((name) => `@turnlog/${name}`);
  return ['turnlog', ...scoped].map((name) => {
    const path = join(modules, name);
    const files = readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(path, join(entry.parentPath, entry.name)));
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as InstalledManifest;
    return { directory: path, manifest, files };
  });
}

test('packed: every package is there, of one version, from its tarball, with nothing of the workspace in it', () => {
  const found = installedPackages();
  assert.is(found.length, packages.length);
  assert.ok(found.length >= 7);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const lock = JSON.parse(readFileSync(join(installed, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { resolved?: string }>;
  };
  for (const { manifest, files } of found) {
    const { name } = manifest;
    assert.is(manifest.version, version, name);
    assert.match(lock.packages[`node_modules/${name}`]?.resolved ?? '', /^file:/, name);
    for (const [other, range] of Object.entries(manifest.dependencies ?? {})) {
      if (/^(@turnlog\/|turnlog$)/.test(other)) assert.is(range, version, `${name} needs ${other}`);
    }
    assert.not.match(JSON.stringify(manifest), /turnlog-src|workspace:/, name);
    for (const needed of ['README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts']) {
      assert.ok(files.includes(needed), `${name} has no ${needed}`);
    }
    const unwanted = files.filter(
      (file) =>
        /(\.test\.|testing\.|-bench\.|tsbuildinfo|\.built|(?<!\.d)\.ts$)/.test(file) ||
        (file.includes('testing/') && !file.includes('testing/conformance-')),
    );
    assert.equal(unwanted, [], name);
  }
});

test('packed: publint finds nothing wrong with what a package offers', async () => {
  for (const { directory: pkgDir, manifest } of installedPackages()) {
    const { messages } = await publint({ pkgDir, pack: false, level: 'warning' });
    const said = messages.map((message) => formatMessage(message, { ...manifest }, { color: false }));
    assert.equal(said, [], manifest.name);
  }
});

test('packed: the command says its version', async () => {
  const version = await run('npx', ['--no-install', 'turnlog', '--version'], installed, elsewhere);
  assert.match(version, /^\d+\.\d+\.\d+\n$/);
});

test('packed: what the unit and the image start is a daemon, and the command finds it', async () => {
  const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
  const unit = parseUnit(readFileSync(join(root, 'deploy/turnlogd.service'), 'utf8'));
  const [program, path = ''] = entrypointOf(dockerfile);
  assert.is(program, 'node');
  assert.match(unit.get('Service.ExecStart')?.[0] ?? '', ` node ${path} serve `);

  const entry = path.replace('/opt/turnlog', installed);
  const daemon = spawn(process.execPath, [entry, 'serve', '--port', '0'], {
    cwd: home,
    env: elsewhere,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(daemon, 'exit');
  try {
    assert.not.match(await untilItListens(daemon), /pnpm/, 'there is no workspace here');
    const status = await run('npx', ['--no-install', 'turnlog', 'status', '--json'], installed, elsewhere);
    const { seq, state, data } = JSON.parse(status) as { seq: number; state: string; data: string };
    assert.equal([seq, state], [0, 'ready']);
    assert.ok(data.startsWith(home), data);
    daemon.kill('SIGTERM');
    assert.equal(await exited, [0, null]);
  } finally {
    daemon.kill('SIGKILL');
  }
});

/** @returns what it says of itself */
async function untilItListens(daemon: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [daemon.stdout, daemon.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 50) {
    if (/listens on http.*\n\n$/s.test(output)) return output;
    if (daemon.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the daemon did not start: ${output}`);
}

test('packed: a host in TypeScript gets the types', async () => {
  writeFileSync(join(installed, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(
    join(installed, 'host.ts'),
    `import { findDaemon } from '@turnlog/client';
const status = await (await findDaemon('/var/lib/turnlog'))?.call('daemon.status', {});
export const seq: number | undefined = status?.seq;
// @ts-expect-error: were the types not found, this would be no error
export const wrong: string | undefined = status?.seq;
`,
  );
  writeFileSync(
    join(installed, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        module: 'NodeNext',
        target: 'ES2023',
        strict: true,
        noEmit: true,
        typeRoots: [join(root, 'node_modules/@types')],
        types: ['node'],
      },
      files: ['host.ts'],
    }),
  );
  await run(process.execPath, [typescript], installed, elsewhere);
});

test.run();
