import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, findDaemon } from '@turnlog/client';

const MAIN = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 10;

/** The command line, run from its sources. */
export function spawnTurnlog(
  arguments_: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): ChildProcess {
  return spawn(process.execPath, ['--conditions=turnlog-src', '--import', 'tsx', MAIN, ...arguments_], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // No configuration of whoever runs the tests: there is none below what is no directory.
    env: { ...process.env, NO_COLOR: '1', XDG_CONFIG_HOME: devNull, ...environment },
  });
}

export interface Finished {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command line to its end. */
export async function runTurnlog(
  arguments_: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  return await finished(spawnTurnlog(arguments_, environment));
}

/** Runs a program of a few lines, given as an ES module; its arguments begin at `process.argv[1]`. */
export async function runProgram(source: string, arguments_: readonly string[]): Promise<Finished> {
  const flags = ['--conditions=turnlog-src', '--import', 'tsx', '--input-type=module', '--eval', source];
  return await runNode([...flags, ...arguments_]);
}

/** Runs Node.js to its end, where the packages of the workspace are found. */
export async function runNode(
  arguments_: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  return await finished(
    spawn(process.execPath, arguments_, {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, ...environment },
    }),
  );
}

async function finished(child: ChildProcess): Promise<Finished> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr += chunk;
  });
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, ...output };
}

/** A daemon in a process of its own. */
export interface DaemonProcess {
  readonly child: ChildProcess;
  readonly client: Client;
  readonly url: string;
  readonly token: string;
  /** What it wrote on standard error. */
  stderr(): string;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export async function startDaemon(dataDirectory: string, ...more: string[]): Promise<DaemonProcess> {
  const child = spawnTurnlog(['serve', '--data', dataDirectory, '--port', '0', ...more]);
  let stderr = '';
  child.stdout?.resume();
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const deadline = Date.now() + START_TIMEOUT_MS;
  try {
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the daemon ended early: ${stderr}`);
      if (Date.now() > deadline) throw new Error(`the daemon did not start in time: ${stderr}`);
      const client = await findDaemon(dataDirectory);
      if (client !== undefined && (await isOwn(dataDirectory, child))) {
        const token = (await readFile(join(dataDirectory, 'token'), 'utf8')).trim();
        return {
          child,
          client,
          url: client.address,
          token,
          stderr: () => stderr,
          async kill(signal) {
            child.kill(signal);
            return (await exited)[0];
          },
        };
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

async function isOwn(dataDirectory: string, child: ChildProcess): Promise<boolean> {
  const { pid } = JSON.parse(await readFile(join(dataDirectory, 'daemon.json'), 'utf8')) as { pid: number };
  return pid === child.pid;
}

/** Runs a test with a directory that is gone afterwards, and ends every daemon that it started. */
export async function withDirectory<Result>(
  task: (directory: string, start: (...more: string[]) => Promise<DaemonProcess>) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-test-'));
  const daemons: DaemonProcess[] = [];
  const start = async (...more: string[]) => {
    const daemon = await startDaemon(join(directory, 'data'), ...more);
    daemons.push(daemon);
    return daemon;
  };
  try {
    return await task(directory, start);
  } finally {
    await Promise.all(daemons.map((daemon) => daemon.kill('SIGKILL')));
    await rm(directory, { recursive: true, force: true });
  }
}
