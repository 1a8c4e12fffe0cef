import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { FileRun } from './judge.ts';

/** Of what a test file writes, so much is kept from the start, and so much from the end. */
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
/** What a test file has started may need so long to end after it. */
const GRACE_MS = 3000;
const POLL_MS = 50;

export interface RunOptions {
  root: string;
  timeoutMs: number;
  env: NodeJS.ProcessEnv;
  /** Ends the run early. */
  signal: AbortSignal;
}

/** Runs one test file in a process group of its own; when this settles, nobody of the group is left. */
export async function runFile(path: string, options: RunOptions): Promise<FileRun> {
  const startedAt = performance.now();
  const preload = new URL('./preload.ts', import.meta.url).href;
  const child = spawn(
    process.execPath,
    ['--conditions=turnlog-src', '--import', 'tsx', '--import', preload, path],
    { cwd: options.root, env: options.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output = gatherOutput(child.stdout, child.stderr);
  const group = child.pid;
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(group);
  }, options.timeoutMs);
  const onAbort = () => killGroup(group);
  options.signal.addEventListener('abort', onAbort);

  try {
    const closed = once(child, 'close');
    // Awaited only where the process ends; a spawn that fails rejects both.
    closed.catch(() => undefined);
    const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null];
    const leftBehind = !(await groupEnds(group)) && !timedOut;
    killGroup(group);
    // A process that left the group can hold the pipes open for ever.
    await Promise.race([closed, delay(GRACE_MS, undefined, { ref: false })]);
    const durationMs = performance.now() - startedAt;
    return { path, output: output(), exitCode, signal, timedOut, leftBehind, durationMs };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onAbort);
    killGroup(group);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function gatherOutput(...streams: NodeJS.ReadableStream[]): () => string {
  const head: Buffer[] = [];
  const tail: Buffer[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let droppedBytes = 0;
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      if (headBytes < OUTPUT_BYTES_MAX) {
        head.push(chunk);
        headBytes += chunk.length;
        return;
      }
      tail.push(chunk);
      tailBytes += chunk.length;
      while (tailBytes > OUTPUT_BYTES_MAX) {
        const dropped = tail.shift()?.length ?? 0;
        tailBytes -= dropped;
        droppedBytes += dropped;
      }
    });
  }
  return () => {
    const gap = droppedBytes > 0 ? `\n… ${droppedBytes} bytes of output are not shown …\n` : '';
    return Buffer.concat(head).toString() + gap + Buffer.concat(tail).toString();
  };
}

async function groupEnds(group: number | undefined): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < GRACE_MS; waitedMs += POLL_MS) {
    if (!groupExists(group)) return true;
    await delay(POLL_MS);
  }
  return !groupExists(group);
}

function groupExists(group: number | undefined): boolean {
  return signalGroup(group, 0);
}

function killGroup(group: number | undefined): void {
  signalGroup(group, 'SIGKILL');
}

/** @returns whether there was anybody to receive it */
function signalGroup(group: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (group === undefined) return false;
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
