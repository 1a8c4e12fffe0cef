import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseHome } from '../engine/level-database.ts';
import { levelDatabase } from '../engine/level-database.ts';
import { openProjections, type ProjectionsOptions } from '../engine/open-projections.ts';
import type { Projection } from '../engine/projection.ts';
import type { Projections } from '../engine/projections.ts';
import type { EngineClock } from '../engine/source.ts';
import type { ProjectionDatabase } from '../engine/table-store.ts';
import { MemoryDatabase } from './memory-database.ts';
import { MemorySource } from './memory-source.ts';

export const timerClock: EngineClock = {
  now: () => Date.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};

/** A clock that stands: what waits for it waits for ever, so that nothing is rendered but by a flush. */
export const standingClock: EngineClock = { now: () => 0, after: () => () => undefined };

export interface Engine<Database extends DatabaseHome> {
  source: MemorySource;
  database: Database;
  dataDirectory: string;
  notices: string[];
  /** Opens the projections; whatever is open at the end is closed. */
  open(projections: readonly Projection[], options?: Partial<ProjectionsOptions>): Promise<Projections>;
}

/** Runs a test with a log in memory, a database in memory and a data directory of its own. */
export async function withEngine(test: (engine: Engine<MemoryDatabase>) => Promise<void>): Promise<void> {
  await withDatabase(() => new MemoryDatabase(), test);
}

/** The same with a LevelDB on the disk. */
export async function withLevelEngine(test: (engine: Engine<DiskDatabase>) => Promise<void>): Promise<void> {
  await withDatabase((directory) => new DiskDatabase(directory), test);
}

/** A LevelDB under a directory that can be left as a killed process leaves it. */
export class DiskDatabase implements DatabaseHome {
  readonly #directory: string;
  #generation = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  get directory(): string {
    return join(this.#directory, `projections-${this.#generation}`);
  }

  async open(): Promise<ProjectionDatabase> {
    return await levelDatabase(this.directory).open();
  }

  async discard(): Promise<void> {
    await levelDatabase(this.directory).discard();
  }

  async settle(database: ProjectionDatabase): Promise<void> {
    await levelDatabase(this.directory).settle?.(database);
  }

  /** The next open finds the files as they are now, whatever is written after it. */
  async crash(): Promise<void> {
    const left = this.directory;
    this.#generation += 1;
    await cp(left, this.directory, { recursive: true });
  }
}

async function withDatabase<Database extends DatabaseHome>(
  makeDatabase: (directory: string) => Database,
  test: (engine: Engine<Database>) => Promise<void>,
): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'turnlog-projections-'));
  const opened: Projections[] = [];
  const notices: string[] = [];
  const source = new MemorySource();
  const database = makeDatabase(dataDirectory);
  try {
    await test({
      source,
      database,
      dataDirectory,
      notices,
      async open(projections, options) {
        const engine = await openProjections({
          source,
          projections,
          database,
          dataDirectory,
          clock: standingClock,
          bootId: 'boot-1',
          isNew: false,
          onNotice: ({ reason }) => notices.push(reason),
          ...options,
        });
        opened.push(engine);
        return engine;
      },
    });
  } finally {
    await closeAll(opened).finally(() => rm(dataDirectory, { recursive: true, force: true }));
  }
}

async function closeAll(opened: readonly Projections[]): Promise<void> {
  const closings = await Promise.allSettled(opened.map((engine) => engine.close()));
  for (const closing of closings) if (closing.status === 'rejected') throw closing.reason;
}
