import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Ignored by git; on the disk of the workspace, for a temporary directory may lie in memory. */
const BENCH_DIRECTORY = fileURLToPath(new URL('../../.bench/', import.meta.url));

export async function withBenchDirectory<Result>(
  task: (directory: string) => Promise<Result>,
): Promise<Result> {
  await mkdir(BENCH_DIRECTORY, { recursive: true });
  const directory = await mkdtemp(join(BENCH_DIRECTORY, 'run-'));
  try {
    return await task(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Runs so many workers at once until `count` tasks are done; answers how many were done a second. */
export async function throughput(
  count: number,
  inFlight: number,
  task: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) {
        const index = next;
        next += 1;
        await task(index);
      }
    }),
  );
  return (count / (performance.now() - startedMs)) * 1_000;
}

/** Runs the tasks one after the other; answers the time of each in milliseconds. */
export async function latencies(count: number, task: (index: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const startedMs = performance.now();
    await task(index);
    times.push(performance.now() - startedMs);
  }
  return times;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
