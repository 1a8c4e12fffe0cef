import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EXIT } from '../exit-codes.ts';
import { turnlog } from '../testing/run-command.ts';
import { bashScript } from './bash.ts';
import type { DescribedCommand } from './describe.ts';
import { fishScript } from './fish.ts';
import { zshScript } from './zsh.ts';

const run = promisify(execFile);

async function scriptFor(shell: string): Promise<string> {
  const done = await turnlog(['completion', shell]);
  assert.is(done.exitCode, EXIT.ok, done.stderr);
  return done.stdout;
}

/** What bash offers for the last of these words. */
async function offered(script: string, ...words: string[]): Promise<string[]> {
  const asked = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _turnlog; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['--norc', '-c', asked, 'bash', ...words]);
  return stdout.split('\n').filter((line) => line !== '');
}

test('completion: bash offers commands, their options and the values that are known', async () => {
  const script = await scriptFor('bash');
  assert.equal(await offered(script, 'turnlog', 're'), ['replay', 'reset', 'rebuild']);
  assert.ok((await offered(script, 'turnlog', 'serve', '--')).includes('--migrate-from'));
  assert.not.ok((await offered(script, 'turnlog', 'status', '--')).includes('--migrate-from'));
  assert.equal(await offered(script, 'turnlog', 'log', '--type', 'turn_i'), ['turn_interrupted']);
  assert.equal(await offered(script, 'turnlog', 'completion', 'f'), ['fish']);
  assert.equal(await offered(script, 'turnlog', 'serve', '--data', ''), [], 'files are offered then');
});

const family: DescribedCommand[] = [
  {
    path: ['token'],
    description: "what 'callers' show",
    options: [],
    argumentValues: [],
    below: ['list', 'create'],
  },
  {
    path: ['token', 'create'],
    description: 'a new one [web]',
    options: [{ flag: '--web', description: "it's: [a]", takesValue: false, values: [] }],
    argumentValues: [],
    below: [],
  },
];

test('completion: a command below another is completed as well', async () => {
  const script = bashScript(family);
  assert.equal(await offered(script, 'turnlog', 'token', 'c'), ['create']);
  assert.equal(await offered(script, 'turnlog', 'token', 'create', '--'), ['--web']);
  assert.match(zshScript(family), "create) _arguments '--web[it'\\''s\\: \\[a\\]]'");
  assert.match(
    fishScript(family),
    "-n '__fish_seen_subcommand_from token; and __fish_seen_subcommand_from create' -l web -d 'it\\'s: [a]'",
  );
});

test('completion: every command is in each script', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await scriptFor(shell);
    for (const name of ['serve', 'migrate', 'replay', 'verify', 'completion']) assert.match(script, name);
    assert.match(script, 'turn_started');
  }
});

test('completion: another shell is refused, and the known ones are named', async () => {
  const done = await turnlog(['completion', 'csh']);
  assert.is(done.exitCode, EXIT.usage);
  assert.match(done.stderr, /bash, zsh, fish/);
});

test.run();
