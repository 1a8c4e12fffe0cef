/** What README.md shows of a host is compiled as it stands there, and run against a daemon. */
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Finished, runNode, withDirectory } from './support/daemon-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function examples(): Promise<string[]> {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  return [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, source = '']) => source);
}

/** Runs a task with the examples in a project of its own, such as a host would have. */
async function withProject(task: (paths: string[], directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-test-'));
  try {
    await symlink(join(root, 'test/node_modules'), join(directory, 'node_modules'));
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    const config = {
      extends: join(root, 'tsconfig.tests.json'),
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
      include: ['*.ts'],
    };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config));
    const paths: string[] = [];
    for (const [index, source] of (await examples()).entries()) {
      const path = join(directory, `example-${index + 1}.ts`);
      await writeFile(path, source);
      paths.push(path);
    }
    await task(paths, directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function run(path: string, dataDirectory: string): Promise<Finished> {
  return runNode(['--conditions=turnlog-src', '--import', import.meta.resolve('tsx'), path], {
    TURNLOG_DATA: dataDirectory,
  });
}

test('README.md: its hosts compile, and do what is said of them', async () => {
  const [host = '', ...others] = await examples();
  assert.is(others.length, 2);
  const lines = host.split('\n').filter((line) => line !== '' && !line.startsWith('/**'));
  assert.ok(lines.length <= 30, `the host has ${lines.length} lines`);
  await withProject(async (paths, project) => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const compiled = await runNode([compiler, '--noEmit', '--project', project]);
    assert.is(compiled.exitCode, 0, compiled.stdout);
    await withDirectory(async (directory, start) => {
      await start();
      const outputs: string[] = [];
      for (const path of paths) {
        const { stdout, stderr, exitCode } = await run(path, join(directory, 'data'));
        assert.is(exitCode, 0, stderr);
        outputs.push(stdout);
      }
      assert.is(outputs[0], 'user: What is a log?\nassistant: You asked: What is a log?\n');
      assert.match(outputs[1] ?? '', /^1 bridge_requested conversation:thread:second\n/);
      assert.match(outputs[1] ?? '', /\n\d+ bridge_stopped conversation:thread:second\n$/);
      assert.match(outputs[2] ?? '', /^saved by event \d+\n$/);
    });
  });
});

test.run();
