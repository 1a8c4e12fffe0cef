import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runTests } from './main.ts';

const workspaceModules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** Runs the test files of a workspace that holds nothing but the given files. */
async function runWorkspace(
  files: Record<string, string>,
  options: { filters?: string[]; timeoutMs?: number } = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'turnlog-runner-'));
  try {
    symlinkSync(workspaceModules, join(root, 'node_modules'));
    for (const [path, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const lines: string[] = [];
    const exitCode = await runTests({
      root,
      filters: options.filters ?? ['.test.ts'],
      parallel: 2,
      timeoutMs: options.timeoutMs ?? 60_000,
      print: (line) => lines.push(line),
      signal: new AbortController().signal,
    });
    return { exitCode, lines, text: lines.join('\n') };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function suite(body: string): string {
  return `import { test } from 'uvu';\nimport * as assert from 'uvu/assert';\n${body}\ntest.run();\n`;
}

test('runner: passed, failed and skipped tests of all files are added up', async () => {
  const run = await runWorkspace({
    'packages/a/src/one.test.ts': suite(`test('one: a', () => {}); test('one: b', () => {});`),
    'services/b/src/deep/two.test.ts': suite(
      `test('two: a', () => assert.is(1, 2)); test.skip('two: b', () => {});`,
    ),
    'packages/a/node_modules/c/src/three.test.ts': suite(`test('three', () => assert.unreachable());`),
  });
  assert.is(run.exitCode, 1);
  assert.is(run.lines.at(-1), '2 passed, 1 failed');
  assert.match(run.text, /^ok {4}packages\/a\/src\/one\.test\.ts {2}2 passed/m);
  assert.match(run.text, /FAIL {2}"two: a"/);
  assert.match(run.text, /^ {6}skipped: two: b$/m);
  assert.match(run.text, /^1 skipped$/m);
});

test('runner: a file without test.run() and one that never settles have failed', async () => {
  const run = await runWorkspace({
    'packages/a/src/forgets.test.ts': `import { test } from 'uvu';\ntest('a', () => {});\n`,
    'packages/a/src/waits.test.ts': suite(`test('waits: for ever', () => new Promise(() => {}));`),
  });
  assert.is(run.lines.at(-1), '0 passed, 2 failed');
  assert.match(run.text, /is test\.run\(\) missing/);
  assert.match(run.text, /in the middle of "waits: for ever"/);
});

test('runner: a file that takes too long is killed with what it started', async () => {
  const pidPattern = /pid=(\d+)/;
  const run = await runWorkspace(
    {
      'packages/a/src/slow.test.ts': suite(`
        import { spawn } from 'node:child_process';
        test('slow', () => {
          const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
          console.log('pid=' + child.pid);
          return new Promise(() => {});
        });`),
    },
    { timeoutMs: 4000 },
  );
  assert.is(run.lines.at(-1), '0 passed, 1 failed');
  assert.match(run.text, /was killed/);
  const pid = Number(pidPattern.exec(run.text)?.[1]);
  assert.ok(pid > 0, run.text);
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
});

test('runner: a file that leaves a process running has failed', async () => {
  const run = await runWorkspace({
    'packages/a/src/leaves.test.ts': suite(`
      import { spawn } from 'node:child_process';
      test('leaves', () => {
        spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }).unref();
      });`),
  });
  assert.is(run.lines.at(-1), '1 passed, 1 failed');
  assert.match(run.text, /left a process running/);
});

test('runner: an error that is no assertion is shown whole, and the tests after it run', async () => {
  const run = await runWorkspace({
    'packages/a/src/fails.test.ts': suite(`
      class StoreError extends Error { code = 'store_failed'; details = { seq: 7 }; }
      test('throws with details', () => {
        throw new StoreError('a write has failed', { cause: new Error('no room') });
      });
      test('throws no error', () => { throw { name: 'odd' }; });
      test('throws nothing', () => { throw undefined; });
      test('passes', () => {});`),
  });
  assert.is(run.lines.at(-1), '1 passed, 3 failed');
  for (const part of [
    /FAIL {2}"throws with details"\n.*a write has failed\n +at .*fails\.test\.ts:\d+/,
    /code: 'store_failed'/,
    /details: { seq: 7 }/,
    /\[cause\]: Error: no room/,
    /FAIL {2}"throws no error"\n +{ name: 'odd' }/,
    /FAIL {2}"throws nothing"\n +undefined/,
  ]) {
    assert.match(run.text, part);
  }
});

test('runner: what a hook throws is a failure and is shown, beside what the test threw', async () => {
  const hook = (name: string) =>
    suite(`
    test.${name}(() => { throw Object.assign(new Error('the hook has failed'), { details: {} }); });
    test('fails', () => { throw new Error('the test has failed'); });`);
  const run = await runWorkspace({
    'packages/a/src/before.test.ts': hook('before'),
    'packages/a/src/each.test.ts': hook('after.each'),
    'packages/a/src/after.test.ts': hook('after'),
  });
  assert.is(run.exitCode, 1);
  assert.is(run.text.match(/the hook has failed/g)?.length, 3);
  assert.is(run.text.match(/the test has failed/g)?.length, 2);
});

test('runner: a filter that matches nothing fails', async () => {
  const run = await runWorkspace({}, { filters: ['no-such'] });
  assert.is(run.exitCode, 1);
  assert.is(run.lines.at(-1), '0 passed, 1 failed');
});

/** A package in which one of two functions is never called by its own test, but by a process it starts. */
const half = {
  'packages/a/src/types.ts': `export interface Never { loaded: true }\n${'// a long file\n'.repeat(200)}`,
  'packages/a/src/parts.ts': `export function one() {\n  return 1;\n}\n\nexport function two() {\n${'  Math.random();\n'.repeat(40)}  return 2;\n}\n`,
};

test('runner: too little line coverage is a failure that says how much there is', async () => {
  const run = await runWorkspace(
    {
      ...half,
      'packages/a/src/parts.test.ts': suite(
        `import { one } from './parts.ts'; test('one', () => assert.is(one(), 1));`,
      ),
    },
    { filters: [] },
  );
  assert.is(run.exitCode, 1);
  assert.is(run.lines.at(-1), '1 passed, 1 failed');
  assert.match(run.text, /^FAIL {2}coverage: [\d.]+ % of the lines is below 90 %/m);
  assert.match(run.text, /% {2}packages\/a\/src\/parts\.ts$/m);
});

test('runner: what a started process executes is covered, and a killed one does no harm', async () => {
  const run = await runWorkspace(
    {
      ...half,
      'packages/a/src/main.ts': `import { two } from './parts.ts';\ntwo();\nif (process.argv[2] === 'stay') setInterval(two, 1000);\nconsole.log('up');\n`,
      'packages/a/src/parts.test.ts': suite(`
        import { once } from 'node:events';
        import { spawn, spawnSync } from 'node:child_process';
        import { fileURLToPath } from 'node:url';
        import { one } from './parts.ts';
        const main = ['--import', 'tsx', fileURLToPath(new URL('./main.ts', import.meta.url))];
        test('one', () => assert.is(one(), 1));
        test('two', () => assert.is(spawnSync(process.execPath, main).status, 0));
        test('killed', async () => {
          const child = spawn(process.execPath, [...main, 'stay']);
          await once(child.stdout, 'data');
          child.kill('SIGKILL');
          await once(child, 'close');
        });`),
    },
    { filters: [] },
  );
  assert.is(run.lines.at(-1), '3 passed, 0 failed', run.text);
  assert.is(run.exitCode, 0);
});

test.run();
