import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, type DatabaseName, type FileSystem, nodeFileSystem, type Store } from '@turnlog/log';
import type { DatabaseHome, ProjectionDatabase } from '@turnlog/projections';
import { MemoryLevel } from 'memory-level';
import { type Daemon, openDaemon } from '../daemon.ts';
import type { Environment } from '../environment.ts';
import { ManualEnvironment } from '../testing.ts';

/** Where a daemon is killed: before its next append reaches the log, or after it and before the answer. */
export type CrashPoint = 'before' | 'after';

/** What is lost with a kill beside the memory: what is written unsynced may be, the log may not. */
export interface Losses {
  index: boolean;
  projections: boolean;
}

type Rows = [key: Buffer, value: Buffer][];
type ProjectionRows = [key: string, value: Buffer][];

const OWNER_FILE = 'owner.json';

/** What does not come back. A promise of its own each time: one for all would hold every life that waits for it. */
function never(): Promise<never> {
  return new Promise(() => {});
}

/** Turns of the event loop after which everything has come to its end that waits for no clock. */
const TURNS_TO_SETTLE = 24;

export async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS_TO_SETTLE; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * One run of a daemon on a machine. Once it is killed nothing of it reaches a database or a file any more,
 * and no time passes for it; what it still holds in memory is never heard of again.
 */
export class Life {
  readonly environment: ManualEnvironment;
  readonly notices: object[] = [];
  /** Settles when the daemon is killed. */
  readonly killed: Promise<'killed'>;
  isDead = false;
  crashAt: CrashPoint | undefined;
  #die: (value: 'killed') => void = () => undefined;

  constructor(startMs: number) {
    this.environment = new ManualEnvironment(startMs);
    this.killed = new Promise((resolve) => {
      this.#die = resolve;
    });
  }

  kill(): void {
    this.isDead = true;
    this.#die('killed');
  }

  /** Passes a write on, unless the daemon is dead or dies of it. */
  async write(target: 'log' | 'other', write: () => Promise<void>): Promise<void> {
    if (this.isDead) return await never();
    const point = target === 'log' ? this.crashAt : undefined;
    if (point === undefined) return await write();
    if (point === 'after') await write();
    this.kill();
    return await never();
  }
}

/** A computer on which daemons live and die; its disk stays. */
export class Machine {
  readonly #directory: string;
  #log: MemoryLevel<Buffer, Buffer> | undefined;
  #index: MemoryLevel<Buffer, Buffer> | undefined;
  #projections = projectionMemory();
  #nowMs = 1_000;
  #madeIds = 0;
  life = new Life(this.#nowMs);

  private constructor(
    directory: string,
    readonly bridgesInMemoryMax: number,
  ) {
    this.#directory = directory;
  }

  static async with<Result>(
    task: (machine: Machine) => Promise<Result>,
    { bridgesInMemoryMax = 1_000 }: { bridgesInMemoryMax?: number } = {},
  ): Promise<Result> {
    const directory = await mkdtemp(join(tmpdir(), 'turnlog-machine-'));
    try {
      return await task(new Machine(directory, bridgesInMemoryMax));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  async start(): Promise<Daemon> {
    const life = new Life(this.#nowMs);
    const daemon = await openDaemon({
      dataDirectory: this.#directory,
      bridgesInMemoryMax: this.bridgesInMemoryMax,
      environment: this.#environmentOf(life),
      store: this.#storeOf(life),
      database: this.#homeOf(life),
      fileSystem: fileSystemOf(life),
      onNotice: (notice) => life.notices.push(notice),
    });
    this.life = life;
    return daemon;
  }

  /** Takes up the disk as the last daemon left it, closed or killed. */
  async recover(losses: Losses = { index: false, projections: false }): Promise<void> {
    this.life.kill();
    await settled();
    // It names this very process, which lives on where a real daemon would be gone.
    await rm(join(this.#directory, OWNER_FILE), { force: true });
    this.#nowMs = this.life.environment.now() + 1;
    this.#log = await copyOf(this.#log);
    this.#index = losses.index ? undefined : await copyOf(this.#index);
    const projections = projectionMemory();
    if (!losses.projections) await copyRows(this.#projections, projections);
    this.#projections = projections;
  }

  #environmentOf({ environment }: Life): Environment {
    return {
      now: () => environment.now(),
      after: (delayMs, task) => environment.after(delayMs, task),
      newId: () => {
        this.#madeIds += 1;
        return `made-${this.#madeIds}`;
      },
    };
  }

  #storeOf(life: Life): Store {
    const read = (name: DatabaseName) => (name === 'log' ? this.#log : this.#index);
    const keep = (name: DatabaseName, database: MemoryLevel<Buffer, Buffer> | undefined) => {
      if (name === 'log') this.#log = database;
      else this.#index = database;
    };
    return {
      exists: async (name) => read(name) !== undefined,
      async open(name, mode) {
        let database = read(name);
        if (database === undefined) {
          if (mode === 'existing') throw new Error(`${name} does not exist`);
          database = bytesMemory();
          keep(name, database);
        }
        await database.open();
        return gatedBytes(database, life, name === 'log' ? 'log' : 'other');
      },
      destroy: async (name) => keep(name, undefined),
      dropped: async () => [],
    };
  }

  #homeOf(life: Life): DatabaseHome {
    return {
      open: async (): Promise<ProjectionDatabase> => {
        const database = this.#projections;
        await database.open();
        const batch = database.batch.bind(database) as (...parameters: unknown[]) => Promise<void>;
        const value = (...parameters: unknown[]) => life.write('other', () => batch(...parameters));
        Object.defineProperty(database, 'batch', { value, configurable: true });
        return database;
      },
      discard: async () => {
        this.#projections = projectionMemory();
      },
    };
  }
}

function bytesMemory(): MemoryLevel<Buffer, Buffer> {
  return new MemoryLevel<Buffer, Buffer>({ keyEncoding: 'buffer', valueEncoding: 'buffer' });
}

function projectionMemory(): MemoryLevel<string, Buffer> {
  return new MemoryLevel<string, Buffer>({ keyEncoding: 'utf8', valueEncoding: 'buffer' });
}

/** The log and its index write by chained batches and nothing else. */
function gatedBytes(database: MemoryLevel<Buffer, Buffer>, life: Life, target: 'log' | 'other'): Database {
  const open = MemoryLevel.prototype.batch.bind(database) as () => {
    write(options?: object): Promise<void>;
  };
  const value = () => {
    const chained = open();
    const write = chained.write.bind(chained);
    return Object.assign(chained, { write: (options?: object) => life.write(target, () => write(options)) });
  };
  Object.defineProperty(database, 'batch', { value, configurable: true });
  return database as unknown as Database;
}

async function copyOf(
  database: MemoryLevel<Buffer, Buffer> | undefined,
): Promise<MemoryLevel<Buffer, Buffer> | undefined> {
  if (database === undefined) return undefined;
  const copy = bytesMemory();
  await copyRows(database, copy);
  return copy;
}

async function copyRows<Key extends string | Buffer>(
  from: MemoryLevel<Key, Buffer>,
  to: MemoryLevel<Key, Buffer>,
): Promise<void> {
  await from.open();
  await to.open();
  const rows = (await from.iterator().all()) as Rows & ProjectionRows;
  const batch = to.batch();
  for (const [key, value] of rows) batch.put(key as Key & string & Buffer, value);
  await batch.write();
  await to.close();
}

/** The real one, as long as the daemon lives; what it writes survives kills but no power loss. */
function fileSystemOf(life: Life): FileSystem {
  const guarded = <Parameters extends unknown[], Result>(
    call: (...parameters: Parameters) => Promise<Result>,
  ) =>
    (async (...parameters: Parameters) =>
      life.isDead ? await never() : await call(...parameters)) as typeof call;
  const { mkdir, open, readFile, readdir, rename, rm: remove, stat, unlink } = nodeFileSystem;
  return {
    mkdir: guarded(mkdir as () => Promise<undefined>) as FileSystem['mkdir'],
    readFile: guarded(readFile as () => Promise<never>) as FileSystem['readFile'],
    readdir: guarded(readdir as () => Promise<never>) as FileSystem['readdir'],
    rename: guarded(rename),
    rm: guarded(remove),
    stat: guarded(stat as () => Promise<never>) as FileSystem['stat'],
    unlink: guarded(unlink),
    open: guarded(async (...parameters: Parameters<FileSystem['open']>) =>
      Object.assign(await open(...parameters), { sync: async () => undefined }),
    ),
  };
}
