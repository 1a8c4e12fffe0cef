import { basename, join } from 'node:path';
import { startTicksOf } from '@turnlog/events';
import { LogError } from './errors.ts';
import { type FileSystem, readTextFile, removeFileDurably, writeFileDurably } from './file-system.ts';

/*
 * `owner.json` names the process that holds the store, for LevelDB's LOCK names nobody.
 *
 * It is written after the lock was taken and goes at close. After a crash it stays, naming a process that
 * is gone. It is looked at before the databases are touched: a LOCK that somebody removed lets a second
 * process in, and merely opening would take files away from the first.
 */

export interface Owner {
  pid: number;
  command: string;
  /** When it took the store, in milliseconds since 1970. */
  since: number;
  /** When the process started, in the kernel's own count: tells it from a later one with its pid. */
  processStart?: string;
  bootId: string;
}

/** The processes of this machine, passed in so that a test can make one up. */
export interface ProcessTable {
  readonly pid: number;
  readonly command: string;
  /** When a process started, in whatever count; undefined where it does not run or nobody knows. */
  startOf(pid: number): Promise<string | undefined>;
}

const COMMAND_LENGTH_MAX = 200;

export const nodeProcessTable: ProcessTable = {
  pid: process.pid,
  command: [basename(process.argv[1] ?? process.argv0), ...process.argv.slice(2)]
    .join(' ')
    .slice(0, COMMAND_LENGTH_MAX)
    .toWellFormed(),
  // Where nobody knows, only the lock itself protects the store.
  startOf: async (pid) => startTicksOf(pid),
};

/**
 * The process that the file names, if that very process runs. It may be this one: what another copy of this
 * module has open here is not kept from us by the kernel's lock, which belongs to the process.
 */
export async function findRunningOwner(
  fileSystem: FileSystem,
  directory: string,
  processes: ProcessTable,
  bootId: string,
): Promise<Owner | undefined> {
  const owner = await readOwner(fileSystem, directory);
  if (owner === undefined || owner.bootId !== bootId) return undefined;
  const start = await processes.startOf(owner.pid);
  return start !== undefined && start === owner.processStart ? owner : undefined;
}

export async function writeOwner(
  fileSystem: FileSystem,
  directory: string,
  processes: ProcessTable,
  { since, bootId }: Pick<Owner, 'since' | 'bootId'>,
): Promise<void> {
  const processStart = await processes.startOf(processes.pid);
  const owner: Owner = {
    pid: processes.pid,
    command: processes.command,
    since,
    ...(processStart !== undefined && { processStart }),
    bootId,
  };
  await writeFileDurably(fileSystem, pathIn(directory), `${JSON.stringify(owner)}\n`);
}

export async function removeOwner(fileSystem: FileSystem, directory: string): Promise<void> {
  await removeFileDurably(fileSystem, pathIn(directory));
}

/** The process that the file names, running or not; undefined where there is no readable file. */
export async function readOwner(fileSystem: FileSystem, directory: string): Promise<Owner | undefined> {
  const text = await readTextFile(fileSystem, pathIn(directory));
  if (text === undefined) return undefined;
  try {
    const owner = JSON.parse(text) as Owner | null;
    return typeof owner?.pid === 'number' ? owner : undefined;
  } catch {
    // Names nobody; the lock decides.
    return undefined;
  }
}

/** `store_locked`, naming the holder as far as it is known. */
export function lockedError(directory: string, owner: Owner | undefined): LogError {
  const holder = owner === undefined ? 'another process' : `process ${owner.pid} (${owner.command})`;
  return new LogError('store_locked', `${directory} is open in ${holder}`, {
    directory,
    ...(owner && { pid: owner.pid, command: owner.command, since: owner.since }),
  });
}

function pathIn(directory: string): string {
  return join(directory, 'owner.json');
}
