import { readFileSync } from 'node:fs';

/** Which process a file speaks of: its id alone may belong to another one by now. */
export interface ProcessIdentity {
  pid: number;
  /** The kernel's start time of the process, in clock ticks since boot; absent where the system tells none. */
  startTicks?: string;
}

const START_TICKS_FIELD = 22;

export function identityOf(pid: number): ProcessIdentity {
  const startTicks = startTicksOf(pid);
  return startTicks === undefined ? { pid } : { pid, startTicks };
}

/** Whether the process still runs, and is the same one. */
export function isRunning({ pid, startTicks }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process may not be signalled, and runs all the same.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startTicks === undefined || startTicksOf(pid) === startTicks;
}

/** When a process started; undefined where it does not run, or the system tells nothing of it. */
export function startTicksOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything; the fields are counted from behind it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TICKS_FIELD - 3];
  } catch {
    return undefined;
  }
}
