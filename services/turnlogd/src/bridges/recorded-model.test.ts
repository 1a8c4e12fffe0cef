import fc from 'fast-check';
import { test } from 'uvu';
import { Machine } from '../testing/machine.ts';
import { type Command, commands, PLACES } from '../testing/recorded-commands.ts';
import { RecordedWorld } from '../testing/recorded-world.ts';

/** More are worth their time where bridges are changed: `RECORDED_RUNS=5000`. */
const RUNS = Number(process.env.RECORDED_RUNS ?? 300);
const SEED = process.env.RECORDED_SEED;

/** Every history begins with the bridges of one conversation there, so that little of it is idle. */
const beginning: Command[] = [0, 1, 2].map((index) => ({ do: 'record', host: index }));

/** With room for all bridges in memory, and with room for all but one. */
const rooms = fc.constantFrom(PLACES.length - 1, 1_000);

async function play(history: readonly Command[], bridgesInMemoryMax: number): Promise<void> {
  const task = async (machine: Machine) => {
    const world = await RecordedWorld.on(machine);
    try {
      for (const command of [...beginning, ...history]) await world.carryOut(command);
      await world.finish();
    } catch (error) {
      await world.end().catch(() => undefined);
      throw error;
    }
  };
  await Machine.with(task, { bridgesInMemoryMax });
}

const histories = fc.array(commands, { minLength: 1, maxLength: 30 });

test('recorded bridges: whatever is reported and whenever the daemon dies, everything shows what the model shows', async () => {
  const seed = SEED === undefined ? Date.now() % 2 ** 31 : Number(SEED);
  await fc.assert(fc.asyncProperty(histories, rooms, play), {
    numRuns: RUNS,
    seed,
    ...(process.env.RECORDED_PATH !== undefined && { path: process.env.RECORDED_PATH }),
  });
});

test.run();
