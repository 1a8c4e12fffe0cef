import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const launcherModule = new URL('../../scripts/launcher.mjs', import.meta.url).href;
/** Long after the launcher is looked at again. */
const PATIENCE_MS = 1500;

/** The launcher looks at its ancestors in /proc, so elsewhere it does nothing. */
const withProc = existsSync('/proc/self/stat') ? test : test.skip;

/**
 * A process named like pnpm that starts a shell that starts a command; the command writes its pid and, when
 * it is asked to stop, says so.
 */
async function launched(
  env: NodeJS.ProcessEnv,
  task: (launcher: ChildProcess, command: number, said: () => string) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'turnlog-launcher-'));
  writeFileSync(
    join(directory, 'command.mjs'),
    `import { stopWithLauncher } from ${JSON.stringify(launcherModule)};
     process.on('SIGTERM', () => { console.log('stopping'); process.exit(0); });
     stopWithLauncher();
     setTimeout(() => process.exit(9), 20000);
     console.log('pid ' + process.pid);`,
  );
  writeFileSync(
    join(directory, 'pnpm'),
    `require('node:child_process').spawn('sh', ['-c', '"$0" command.mjs; true', process.execPath], { stdio: 'inherit' });`,
  );
  const launcher = spawn(process.execPath, [join(directory, 'pnpm')], {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let text = '';
  launcher.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  try {
    while (!/pid \d+\n/.test(text)) await once(launcher.stdout as NodeJS.ReadableStream, 'data');
    await task(launcher, Number(/pid (\d+)/.exec(text)?.[1]), () => text);
  } finally {
    killGroup(launcher.pid);
    rmSync(directory, { recursive: true, force: true });
  }
}

function killGroup(group: number | undefined): void {
  try {
    process.kill(-(group ?? 0), 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

withProc('launcher: a command whose launcher is gone is asked to stop', async () => {
  await launched({ npm_lifecycle_event: 'start' }, async (launcher, _command, said) => {
    launcher.kill('SIGKILL');
    await delay(PATIENCE_MS);
    assert.match(said(), /stopping/);
  });
});

withProc('launcher: a command whose launcher lives goes on', async () => {
  await launched({ npm_lifecycle_event: 'start' }, async (_launcher, command, said) => {
    await delay(PATIENCE_MS);
    assert.not.match(said(), /stopping/);
    process.kill(command, 0);
  });
});

withProc('launcher: a command that nobody launched outlives its parent', async () => {
  await launched({ npm_lifecycle_event: undefined }, async (launcher, command, said) => {
    launcher.kill('SIGKILL');
    await delay(PATIENCE_MS);
    assert.not.match(said(), /stopping/);
    process.kill(command, 0);
  });
});

test.run();
