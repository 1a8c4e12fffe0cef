// A signal sent to `npx` or `pnpm` alone ends them but not what they started, which would leave a daemon
// behind that nobody sees. So a command that was started through them ends when they are gone.
import { readFileSync } from 'node:fs';

const POLL_MS = 500;
const LAUNCHER = /^(npm |npx )|[\\/](npm|npx|pnpm)(-cli)?(\.c?js)?\0/;

/** Watches the launchers above this process, and asks it to stop as a signal would when one of them is gone. */
export function stopWithLauncher() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const launchers = launchersAbove(process.pid);
  if (launchers.length === 0) return;
  const timer = setInterval(() => {
    if (launchers.every(({ pid, parent }) => parentOf(pid) === parent)) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, POLL_MS);
  timer.unref();
}

/**
 * From this process up to the topmost npm, npx or pnpm that only shells lie below: each with its parent.
 * A process whose parent has gone gets another one, which is how its going shows.
 */
function launchersAbove(self) {
  const chain = [];
  let length = 0;
  for (let pid = self; pid > 1; pid = parentOf(pid)) {
    const parent = parentOf(pid);
    if (parent === undefined) break;
    const command = commandOf(parent);
    if (command === undefined) break;
    chain.push({ pid, parent });
    if (LAUNCHER.test(command)) length = chain.length;
    else if (!/^(\S*\/)?(sh|bash|dash)\0-c\0/.test(command)) break;
  }
  return chain.slice(0, length);
}

/** The parent's process id, or undefined where the process is gone or the system has no /proc. */
function parentOf(pid) {
  try {
    // The second field is the command in brackets and may hold anything, so count from the last bracket.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return undefined;
  }
}
