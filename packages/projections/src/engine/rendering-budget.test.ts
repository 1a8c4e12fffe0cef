import { type FileSystem, nodeFileSystem } from '@turnlog/log';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withEngine } from '../testing/engine-fixture.ts';
import { operationsProjection } from '../testing/operations-projection.ts';

const put = (table: string, key: string, value: unknown = key) => ({ do: 'put', table, key, value });

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 800; left > 0; left -= 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error('what was waited for did not come about');
}

test('rendering: it takes at most a tenth of the time', () =>
  withEngine(async (engine) => {
    let now = 0;
    const pauses: number[] = [];
    let resume: () => void = () => undefined;
    const clock = {
      now: () => now,
      after(delayMs: number, task: () => void) {
        pauses.push(delayMs);
        resume = task;
        return () => undefined;
      },
    };
    let renames = 0;
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      async rename(from, to) {
        await nodeFileSystem.rename(from, to);
        renames += 1;
        now += 40;
      },
    };
    const projections = await engine.open([operationsProjection()], { clock, fileSystem });
    for (let index = 0; index < 100; index += 1) engine.source.append(put('one', `key ${index}`));
    await projections.read('operations', () => undefined);
    await until(async () => pauses.length === 1);
    assert.equal(pauses, [25], 'a burst is one rendering');
    resume();
    await until(async () => pauses.length === 2);
    assert.equal(pauses, [25, 360]);
    assert.is(renames, 1);
    engine.source.append(put('one', 'later'));
    await projections.flush();
    assert.is(renames, 2, 'a flush does not wait for the pause');
  }));

/** Time that passes only while a file is written, and from one thing that waits for it to the next. */
class BudgetClock {
  #now = 0;
  readonly #tasks = new Set<{ at: number; task: () => void }>();
  writtenMs = 0;
  writes = 0;
  readonly fileSystem: FileSystem;

  constructor(writeMs: (write: number) => number) {
    this.fileSystem = {
      ...nodeFileSystem,
      rename: async (from, to) => {
        await nodeFileSystem.rename(from, to);
        this.writes += 1;
        this.writtenMs += writeMs(this.writes);
        this.#now += writeMs(this.writes);
      },
    };
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, task: () => void): () => void {
    const waiting = { at: this.#now + delayMs, task };
    this.#tasks.add(waiting);
    return () => this.#tasks.delete(waiting);
  }

  get isWaitedFor(): boolean {
    return this.#tasks.size > 0;
  }

  /** Goes on to the next thing that waits. */
  pass(): void {
    const [next] = [...this.#tasks].sort((one, other) => one.at - other.at);
    if (next === undefined) return;
    this.#tasks.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.task();
  }
}

test('budget: under changes without end, of files quick and slow to write, rendering takes a tenth of the time', () =>
  withEngine(async (engine) => {
    const clock = new BudgetClock((write) => (write % 7 === 0 ? 900 : 30));
    const projections = await engine.open([operationsProjection()], {
      clock,
      fileSystem: clock.fileSystem,
      limits: { renderFilesAtOnce: 1 },
    });
    for (let round = 0; round < 120; round += 1) {
      engine.source.append(put(['one', 'two', 'three'][round % 3] ?? '', `key ${round}`));
      await projections.read('operations', () => undefined);
      await until(() => clock.isWaitedFor);
      clock.pass();
    }
    await until(() => clock.isWaitedFor);
    const share = clock.writtenMs / clock.now();
    assert.ok(clock.writes > 30, `${clock.writes} files were written`);
    assert.ok(share < 0.13, `rendering took ${(share * 100).toFixed(1)} % of the time`);
    assert.ok(share > 0.05, 'and it was not idle for longer than it had to be');
  }));

test.run();
