import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

const MINUTE_MS = 60_000;

/**
 * Names the current run of the kernel. What a process of the same run wrote unsynced is still there after
 * that process was killed; what one of another run wrote may be lost in part.
 * @param now the time in milliseconds, for systems that do not name their runs
 */
export function currentBootId(now: number): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // No such file outside of Linux. A wrong guess costs a rebuild of the index and nothing else.
    return `booted-${Math.round((now - uptime() * 1000) / MINUTE_MS)}`;
  }
}
