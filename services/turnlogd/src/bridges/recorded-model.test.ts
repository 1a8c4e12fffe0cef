import fc from 'fast-check';
import { test } from 'uvu';
import { Machine } from '../testing/machine.ts';
import { steps } from '../testing/recorded-host.ts';
import { type Command, PLACES, RecordedWorld } from '../testing/recorded-world.ts';

/** More are worth their time where bridges are changed: `RECORDED_RUNS=5000`. */
const RUNS = Number(process.env.RECORDED_RUNS ?? 300);
const SEED = process.env.RECORDED_SEED;

const host = fc.nat({ max: PLACES.length - 1 });
const said = fc.array(steps, { maxLength: 5 });
const losses = fc.record({ index: fc.boolean(), projections: fc.boolean() });

const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('record' as const), host }) },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      host,
      steps: said,
      sending: fc.constantFrom('numbered' as const, 'again' as const, 'unnumbered' as const, 'gap' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('report at once' as const),
      hosts: fc.tuple(host, host),
      steps: fc.tuple(said, said),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), host, isIdle: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), host }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('clear' as const), conversation: fc.nat({ max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('reset' as const), host, withConversation: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('alias' as const),
      from: fc.nat({ max: 3 }),
      to: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      durationMs: fc.constantFrom(100, 499, 500, 15_000, 30_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), losses }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('crash at the next append' as const),
      point: fc.constantFrom('before' as const, 'after' as const),
      losses,
    }),
  },
);

/** Every history begins with the bridges of one conversation there, so that little of it is idle. */
const beginning: Command[] = [0, 1, 2].map((index) => ({ do: 'record', host: index }));

async function play(history: readonly Command[]): Promise<void> {
  await Machine.with(async (machine) => {
    const world = await RecordedWorld.on(machine);
    try {
      for (const command of [...beginning, ...history]) await world.carryOut(command);
      await world.finish();
    } catch (error) {
      await world.end().catch(() => undefined);
      throw error;
    }
  });
}

test('recorded bridges: whatever is reported and whenever the daemon dies, everything shows what the model shows', async () => {
  const seed = SEED === undefined ? Date.now() % 2 ** 31 : Number(SEED);
  await fc.assert(fc.asyncProperty(fc.array(commands, { minLength: 1, maxLength: 30 }), play), {
    numRuns: RUNS,
    seed,
    ...(process.env.RECORDED_PATH !== undefined && { path: process.env.RECORDED_PATH }),
  });
});

test.run();
