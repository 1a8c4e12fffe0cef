import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientError, findDaemon } from '@turnlog/client';
import type { Envelope, OperationName, OperationParameters, OperationResult } from '@turnlog/events';
import { type Daemon, openDaemon } from '@turnlog/turnlogd';
import type { Context } from './context.ts';
import { safeLine } from './terminal/safe-text.ts';

/** What a command works on: the daemon that runs on the data directory, or the directory itself. */
export interface Target {
  /** Where it is, for people. */
  readonly place: string;
  readonly daemon: Daemon | undefined;
  call<Name extends OperationName>(
    name: Name,
    parameters: OperationParameters<Name>,
  ): Promise<OperationResult<Name>>;
  /** The log as it grows; only a running daemon has anything to follow. */
  follow(from: number, signal: AbortSignal): AsyncIterable<Envelope>;
  close(): Promise<void>;
}

/** Runs a task on the daemon where one runs, else on the directory, which stays locked for that time. */
export async function withTarget<Result>(
  context: Context,
  task: (target: Target) => Promise<Result>,
  options: { create?: boolean } = {},
): Promise<Result> {
  const target = await openTarget(context, options.create ?? false);
  try {
    return await task(target);
  } finally {
    await target.close();
  }
}

async function openTarget(context: Context, create: boolean): Promise<Target> {
  const { dataDirectory, stderr } = context;
  const client = await findDaemon(dataDirectory);
  if (client !== undefined) {
    return {
      place: `the daemon at ${client.address}`,
      daemon: undefined,
      call: (name, parameters) => client.call(name, parameters),
      follow: (from, signal) => client.subscribe({ from, signal, reconnect: false }),
      close: async () => client.close(),
    };
  }
  if (!create && !(await isStore(dataDirectory))) {
    throw new ClientError(
      'invalid_argument',
      `there is nothing in ${dataDirectory} yet; start a daemon with "turnlog serve", or bring in what ` +
        'you have with "turnlog migrate <directory>"',
    );
  }
  const daemon = await openDaemon({
    dataDirectory,
    onNotice: ({ message }) => {
      stderr.write(`turnlog: ${safeLine(message)}\n`);
    },
  });
  return {
    place: `${dataDirectory} (no daemon runs)`,
    daemon,
    call: (name, parameters) => daemon.dispatcher.call(name, parameters),
    follow() {
      throw new ClientError(
        'invalid_argument',
        'no daemon runs on this directory, so there is nothing to follow',
      );
    },
    close: () => daemon.close(),
  };
}

/** Whether a data directory holds anything. */
export async function isStore(directory: string): Promise<boolean> {
  try {
    await access(join(directory, 'store.json'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
