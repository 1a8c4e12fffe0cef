import { join } from 'node:path';
import { openLog } from '@turnlog/log';
import { JsonlFloor } from './jsonl-floor.ts';
import { latencies, median, throughput, withBenchDirectory } from './measure.ts';
import type { Figure } from './report.ts';
import { sampleEvent } from './sample-event.ts';

const ROUNDS = 7;
const EVENTS_PER_ROUND = 10_000;
const IN_FLIGHT = 64;
const SINGLE_EVENTS_PER_ROUND = 300;

/** Durable appends in one process, beside the floor in the same rounds. */
export async function benchDurableAppend(): Promise<Figure[]> {
  return await withBenchDirectory(async (directory) => {
    const floor = await JsonlFloor.open(directory);
    const log = await openLog({ directory: join(directory, 'data'), clock: Date.now });
    try {
      const toFloor = (index: number) => floor.append(sampleEvent(index));
      const toLog = (index: number) => {
        const { stream, type, data } = sampleEvent(index);
        return log.append(stream, [{ type, data }]);
      };
      await throughput(1_000, IN_FLIGHT, toFloor);
      await throughput(1_000, IN_FLIGHT, toLog);
      const rates = { floor: [] as number[], log: [] as number[] };
      const times = { floor: [] as number[], log: [] as number[] };
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.floor.push(await throughput(EVENTS_PER_ROUND, IN_FLIGHT, toFloor));
        rates.log.push(await throughput(EVENTS_PER_ROUND, IN_FLIGHT, toLog));
        times.floor.push(median(await latencies(SINGLE_EVENTS_PER_ROUND, toFloor)));
        times.log.push(median(await latencies(SINGLE_EVENTS_PER_ROUND, toLog)));
      }
      const ratios = rates.log.map((rate, round) => rate / (rates.floor[round] ?? Number.NaN));
      const slowdowns = times.log.map((time, round) => time / (times.floor[round] ?? Number.NaN));
      return [
        { name: 'floor: JSONL and fdatasync, 64 in flight', value: median(rates.floor), unit: 'events/s' },
        { name: 'durable append, 64 in flight', value: median(rates.log), unit: 'events/s' },
        {
          name: 'durable append, 64 in flight, to the floor',
          value: median(ratios),
          unit: 'ratio',
          must: 0.55,
          reach: 0.8,
        },
        { name: 'floor: one writer, p50', value: median(times.floor), unit: 'ms' },
        { name: 'one writer, p50', value: median(times.log), unit: 'ms' },
        {
          name: "one writer, p50, to the floor's",
          value: median(slowdowns),
          unit: 'ratio',
          must: 1.6,
          reach: 1.2,
          lessIsBetter: true,
        },
      ];
    } finally {
      await log.close();
      await floor.close();
    }
  });
}
