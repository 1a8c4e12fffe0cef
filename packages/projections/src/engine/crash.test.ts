import type { CommittedEvent } from '@turnlog/events';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type DiskDatabase, type Engine, withEngine, withLevelEngine } from '../testing/engine-fixture.ts';
import type { MemoryDatabase } from '../testing/memory-database.ts';
import {
  carryOut,
  operationsProjection,
  rowsOf,
  type TableOperation,
} from '../testing/operations-projection.ts';
import { MemoryTables } from './memory-tables.ts';
import type { Projections } from './projections.ts';

const TABLES = ['one', 'two'];
const table = fc.constantFrom(...TABLES);
const key = fc
  .array(fc.constantFrom('a', '\0', '\uffff', '😀'), { maxLength: 2 })
  .map((parts) => parts.join(''));
const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.constant(null),
  fc.constant(''),
  fc.array(fc.string(), { maxLength: 2 }),
);

const operation: fc.Arbitrary<TableOperation> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('put' as const), table, key, value }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), table, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteRange' as const), table, prefix: key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('count' as const), table, key }) },
  {
    weight: 3,
    arbitrary: fc
      .record({
        table,
        prefix: key,
        after: fc.option(key),
        reverse: fc.boolean(),
        limit: fc.option(fc.nat(4)),
      })
      .map(({ after, limit, ...rest }) => ({
        do: 'list' as const,
        ...rest,
        ...(after !== null && { after }),
        ...(limit !== null && { limit }),
      })),
  },
);

/** What a fold in memory makes of the same events, in one go. */
async function foldOnce(events: readonly unknown[]): Promise<Record<string, unknown>> {
  const tables = new MemoryTables();
  for (const event of events) await carryOut(tables, event as CommittedEvent);
  return tables.dump();
}

async function dump(projections: Projections): Promise<Record<string, unknown>> {
  const { value: rows } = await projections.read('operations', async (tables) => {
    const found: [string, unknown][] = [];
    for (const name of ['counts', 'lists', ...TABLES]) found.push([name, await rowsOf(tables, name)]);
    return found.filter(([, rows]) => (rows as unknown[]).length > 0);
  });
  return Object.fromEntries(rows);
}

const script = fc.record({
  steps: fc.array(
    fc.oneof(
      { weight: 12, arbitrary: operation },
      { weight: 1, arbitrary: fc.constantFrom('crash' as const, 'reopen' as const, 'rebuild' as const) },
    ),
    {
      maxLength: 80,
    },
  ),
  batchEventsMax: fc.integer({ min: 1, max: 20 }),
  cacheBytesMax: fc.constantFrom(0, 400, 100_000),
});

async function playOut<Database extends MemoryDatabase | DiskDatabase>(
  engine: Engine<Database>,
  { steps, ...limits }: typeof script extends fc.Arbitrary<infer Script> ? Script : never,
): Promise<void> {
  const { source, database, open } = engine;
  source.pageEvents = 20;
  let projections = await open([operationsProjection()], { limits });
  for (const step of steps) {
    if (step === 'rebuild') await projections.rebuild();
    else if (step === 'reopen') {
      await projections.close();
      projections = await open([operationsProjection()], { limits });
    } else if (step === 'crash') {
      await database.crash();
      await projections.close();
      projections = await open([operationsProjection()], { limits });
    } else source.append(step);
  }
  assert.equal(await dump(projections), await foldOnce(source.events));
  const [report] = await projections.check();
  assert.equal(report?.differences, []);
  assert.is(report?.equal, true);
}

test('crash: batches cut anywhere and kills anywhere give the rows of one pass', async () => {
  const property = fc.asyncProperty(script, (steps) => withEngine((engine) => playOut(engine, steps)));
  await fc.assert(property, { numRuns: 100 });
});

test('crash: the same on the disk', async () => {
  const property = fc.asyncProperty(script, (steps) => withLevelEngine((engine) => playOut(engine, steps)));
  await fc.assert(property, { numRuns: 15 });
});

test.run();
