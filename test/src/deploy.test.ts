/** What is in `deploy/`, held against rules that each have a test here that breaks them. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dockerfileProblems } from './deploy/dockerfile.ts';
import { unitProblems } from './deploy/unit.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const unitPath = join(root, 'deploy/turnlogd.service');
const unit = readFileSync(unitPath, 'utf8');
const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
const inWorkspace = (path: string) => existsSync(join(root, path));

test('deploy: the Dockerfile is sound', () => {
  assert.equal(dockerfileProblems(dockerfile, inWorkspace), []);
});

test('deploy: a Dockerfile that is not sound is found out', () => {
  const broken = (from: string | RegExp, to: string) => {
    const text = dockerfile.replace(from, to);
    assert.is.not(text, dockerfile, `${from} is not in the Dockerfile`);
    return dockerfileProblems(text, inWorkspace).join('\n');
  };
  assert.match(broken(/^HEALTHCHECK[\s\S]*?\n(?=#)/m, ''), /no HEALTHCHECK/);
  assert.match(broken('HEALTHCHECK --interval', 'HEALTHCHECK --intervall'), /line \d+: .*intervall/);
  assert.match(broken('USER 1000:1000', 'USER 0:0'), /runs as root/);
  assert.match(broken('USER 1000:1000\n', ''), /runs as root/);
  assert.match(broken(/node:20-bookworm-slim(?= AS)/, 'node:latest'), /node:latest names no version/);
  assert.match(broken(/node:20-bookworm-slim(?= AS)/, 'node'), /node names no version/);
  assert.match(broken('COPY . .', 'COPY sources .'), /"sources" is not in the workspace/);
  assert.match(broken('COPY . .', 'ADD . .'), /ADD may fetch/);
  assert.match(broken('--from=build', '--from=builder'), /no stage "builder"/);
  assert.match(broken(/^ENTRYPOINT .*$/m, 'ENTRYPOINT node main.js'), /no JSON array/);
  assert.match(broken(/^FROM[\s\S]*?(?=^FROM)/m, ''), /only one stage/);
});

test('deploy: what the image is built from is not left out of it', () => {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  for (const needed of ['package.json', 'pnpm-lock.yaml', 'patches', 'packages', 'services', 'scripts']) {
    assert.not(ignored.includes(needed), `${needed} is ignored`);
    assert.ok(inWorkspace(needed));
  }
  for (const unwanted of ['.git', '**/node_modules', '**/dist'])
    assert.ok(ignored.includes(unwanted), unwanted);
});

test('deploy: the unit is hardened', () => {
  assert.equal(unitProblems(unit), []);
});

test('deploy: a unit that is not hardened is found out', () => {
  const broken = (from: string, to: string) => {
    assert.ok(unit.includes(from), `${from} is not in the unit`);
    return unitProblems(unit.replace(from, to)).join('\n');
  };
  assert.match(broken('ProtectSystem=strict', 'ProtectSystem=full'), /ProtectSystem is full/);
  assert.match(broken('UMask=0077\n', ''), /UMask is missing/);
  assert.match(broken('User=turnlog', 'User=root'), /runs as root/);
  assert.match(broken('Type=notify', 'Type=simple'), /not heard/);
  assert.match(broken('RestartSec=2', 'RestartSec=2\nUMask=0022'), /UMask is given twice/);
  assert.throws(() => unitProblems(`${unit}\nnonsense`), /no line of a unit/);
});

/** The version of systemd here, 0 where there is none. */
const systemd = Number(
  /\d+/.exec(spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0] ?? 0,
);
/** The first that judges a unit that is not installed. */
const SYSTEMD_OFFLINE = 250;
const withSystemd = systemd >= SYSTEMD_OFFLINE ? test : test.skip;
const why = systemd >= SYSTEMD_OFFLINE ? '' : ` (needs systemd-analyze of systemd ${SYSTEMD_OFFLINE})`;

withSystemd(`deploy: systemd takes the unit, and counts little that is exposed${why}`, () => {
  const analyze = (...arguments_: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', arguments_, { encoding: 'utf8' });
    return { status, output: `${stdout}${stderr}` };
  };
  const verified = analyze('verify', unitPath);
  assert.is(verified.status, 0, verified.output);
  // It may also speak of units that the machine came with.
  assert.not.match(verified.output, /turnlogd/);
  // Tenths, of 100. What remains: the network and Unix sockets, /proc, and the engine's compiled code.
  const judged = analyze('security', '--offline=true', '--threshold=18', unitPath);
  assert.is(judged.status, 0, judged.output);
});

test.run();
