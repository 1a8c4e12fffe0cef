import type { SubscriptionName, SubscriptionParameters, TurnlogError } from '@turnlog/events';
import { hasRoom, type Log, nodeFileSystem, PatientRetry, storeErrorOf } from '@turnlog/log';
import type { MigrationReport, Projections } from '@turnlog/projections';
import type { Tokens } from './access/tokens.ts';
import { type Daemon, type DaemonOptions, openDaemon } from './daemon.ts';
import { DataDirectory } from './data-directory.ts';
import { systemEnvironment } from './environment.ts';
import type { Followed } from './live/subscriptions.ts';
import type { MigrateOptions } from './migration/migrate.ts';
import type { Dispatcher } from './operations/dispatcher.ts';

/*
 * A daemon on a disk that is full when it starts. LevelDB writes when it opens, so nothing can be read yet, and
 * nothing on the disk is touched. Every call is refused with the reason; once there is room the data directory
 * is opened, and from then on this is a daemon like any other.
 */

const RETRY_MS = 250;
const RETRY_MS_MAX = 5_000;
/** What does not pass by waiting. */
const FINAL = new Set(['store_damaged', 'store_version_unknown']);

/**
 * Opens a data directory. Where the disk is full it answers a {@link WaitingDaemon}.
 * @throws TurnlogError also `storage_full` where the directory is new, for nobody has a token of it yet
 */
export async function openDaemonPatiently(options: DaemonOptions): Promise<Daemon | WaitingDaemon> {
  try {
    return await openDaemon(options);
  } catch (cause) {
    const reason = storeErrorOf(cause, 'opening the data directory');
    if (reason.code !== 'storage_full') throw cause;
    const { fileSystem = nodeFileSystem, environment = systemEnvironment, onNotice } = options;
    const directory = new DataDirectory(options.dataDirectory, fileSystem);
    const tokens = await directory.openTokens(environment.now).catch(() => {
      throw reason;
    });
    onNotice?.({ message: 'the disk is full: the daemon waits for room', error: reason });
    return new WaitingDaemon({ ...options, tokens }, directory, tokens, reason);
  }
}

export class WaitingDaemon implements Daemon {
  readonly directory: DataDirectory;
  readonly tokens: Tokens;
  readonly since: number;
  readonly dispatcher: Dispatcher;
  readonly #options: DaemonOptions;
  readonly #retry: PatientRetry;
  readonly #listeners: (() => void)[] = [];
  #reason: TurnlogError;
  #daemon: Daemon | undefined;
  #subscribers: () => number = () => 0;

  /** Made by `openDaemonPatiently` alone. */
  constructor(options: DaemonOptions, directory: DataDirectory, tokens: Tokens, reason: TurnlogError) {
    const { fileSystem = nodeFileSystem, environment = systemEnvironment, dataDirectory } = options;
    this.#options = options;
    this.directory = directory;
    this.tokens = tokens;
    this.since = environment.now();
    this.#reason = reason;
    this.dispatcher = {
      call: async (name, parameters) => await this.#opened().dispatcher.call(name, parameters),
      callUnchecked: async (name, parameters, caller) =>
        await this.#opened().dispatcher.callUnchecked(name, parameters, caller),
    };
    this.#retry = new PatientRetry({
      after: (delayMs, task) => environment.after(delayMs, task),
      delayMs: RETRY_MS,
      delayMsMax: RETRY_MS_MAX,
      isWorthwhile: () => hasRoom(fileSystem, dataDirectory),
      attempt: () => this.#open(),
    });
    this.#retry.begin();
  }

  /** Runs the task once the data directory is open. */
  whenOpen(task: () => void): void {
    if (this.#daemon !== undefined) task();
    else this.#listeners.push(task);
  }

  get log(): Log {
    return this.#opened().log;
  }

  get projections(): Projections {
    return this.#opened().projections;
  }

  readiness(): string {
    if (this.#daemon !== undefined) return this.#daemon.readiness();
    return this.#reason.code === 'storage_full' ? 'waiting_for_room' : this.#reason.code;
  }

  subscribe<Name extends SubscriptionName>(
    name: Name,
    parameters: SubscriptionParameters<Name>,
    signal: AbortSignal,
  ): AsyncIterable<Followed<Name>> {
    return this.#opened().subscribe(name, parameters, signal);
  }

  async migrate(options: MigrateOptions): Promise<MigrationReport> {
    return await this.#opened().migrate(options);
  }

  async migrateAtFirstStart(options: MigrateOptions): Promise<MigrationReport | undefined> {
    return await this.#opened().migrateAtFirstStart(options);
  }

  figures(): { head: number; bridges: number } {
    return this.#daemon?.figures() ?? { head: 0, bridges: 0 };
  }

  countSubscribers(count: () => number): void {
    this.#subscribers = count;
    this.#daemon?.countSubscribers(count);
  }

  async close(): Promise<void> {
    await this.#retry.stop();
    await this.#daemon?.close();
  }

  /** @throws TurnlogError why it is not open */
  #opened(): Daemon {
    if (this.#daemon === undefined) throw this.#reason;
    return this.#daemon;
  }

  /** Answers whether there is nothing left to try. */
  async #open(): Promise<boolean> {
    const { onNotice } = this.#options;
    try {
      this.#daemon = await openDaemon(this.#options);
    } catch (cause) {
      this.#reason = storeErrorOf(cause, 'opening the data directory');
      const isFinal = FINAL.has(this.#reason.code);
      if (isFinal) onNotice?.({ message: 'the data directory cannot be opened', error: cause });
      return isFinal;
    }
    this.#daemon.countSubscribers(this.#subscribers);
    onNotice?.({ message: 'there is room again: the data directory is open' });
    for (const task of this.#listeners.splice(0)) task();
    return true;
  }
}
