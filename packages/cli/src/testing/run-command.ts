import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { openDaemon, serve } from '@turnlog/turnlogd';
import { run } from '../program.ts';

/** A conversation key that a terminal must not be sent. */
export const KEY = 'thread:\u001b]0;evil\u0007"tab" 1';

export interface Done {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export class Captured extends Writable {
  text = '';

  constructor(
    readonly isTTY: boolean,
    readonly columns: number,
  ) {
    super();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    this.emit('text');
    done();
  }

  /** Resolves once this much was written. */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) await new Promise((resolve) => this.once('text', resolve));
  }
}

export interface RunOptions {
  env?: Record<string, string>;
  isTTY?: boolean;
  columns?: number;
  stdout?: Captured;
  stderr?: Captured;
}

/** Runs the command line in this process, with an empty configuration unless told otherwise. */
export async function turnlog(arguments_: string[], options: RunOptions = {}): Promise<Done> {
  const { env = {}, isTTY = false, columns = 80 } = options;
  const stdout = options.stdout ?? new Captured(isTTY, columns);
  const stderr = options.stderr ?? new Captured(isTTY, columns);
  const exitCode = await withDirectory(async (directory) => {
    const config = join(directory, 'config.json');
    await writeFile(config, '{}');
    return await run(arguments_, { stdout, stderr, env: { TURNLOG_CONFIG: config, ...env } });
  });
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

export async function withDirectory<Result>(task: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-cli-'));
  try {
    return await task(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A data directory with one conversation of one turn. */
export async function withData(task: (data: string) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const data = join(directory, 'data');
    const daemon = await openDaemon({ dataDirectory: data });
    try {
      const { dispatcher } = daemon;
      await dispatcher.call('bridge.record', { bridgeId: 'b', provider: 'codex', conversationKey: KEY });
      const events = [
        { type: 'prompt', text: 'hello\u001b[2J' },
        { type: 'turn_start', turnId: 't1' },
        { type: 'turn_end', turnId: 't1', text: 'two\nlines' },
      ];
      await dispatcher.call('bridge.event', { bridgeId: 'b', events });
    } finally {
      await daemon.close();
    }
    await task(data);
  });
}

/** Both ways of every command: on the directory alone, and through a daemon that runs on it. */
export async function bothWays(
  task: (data: string, way: 'directory' | 'daemon') => Promise<void>,
): Promise<void> {
  for (const way of ['directory', 'daemon'] as const) {
    await withData(async (data) => {
      const running = way === 'daemon' ? await serve({ dataDirectory: data, port: 0 }) : undefined;
      try {
        await task(data, way);
      } finally {
        await running?.stop();
      }
    });
  }
}
