import { join } from 'node:path';
import type { BridgeState } from '@turnlog/bridge';
import type { SubscriptionName, SubscriptionParameters } from '@turnlog/events';
import { currentBootId, type FileSystem, type Log, nodeFileSystem, openLog, type Store } from '@turnlog/log';
import {
  conversations,
  type DatabaseHome,
  getMeter,
  levelDatabase,
  type MigrationReport,
  openProjections,
  type Projections,
  sessions,
  transcripts,
} from '@turnlog/projections';
import type { Tokens } from './access/tokens.ts';
import { bridgesProjection, loadBridge, loadOpenBridges } from './bridges/projection.ts';
import { RecordedBridges } from './bridges/recorded-bridges.ts';
import { Commands } from './commands/commands.ts';
import { DataDirectory } from './data-directory.ts';
import { type Environment, systemEnvironment } from './environment.ts';
import { KeyedLock } from './keyed-lock.ts';
import { LiveHub } from './live/live-hub.ts';
import { createSubscriptions, type Followed } from './live/subscriptions.ts';
import { migrateAtFirstStart } from './migration/first-start.ts';
import { type MigrateOptions, migrate } from './migration/migrate.ts';
import { type CallListener, createDispatcher, type Dispatcher } from './operations/dispatcher.ts';
import { createHandlers } from './operations/handlers.ts';
import { keptAnswers } from './operations/kept-answers.ts';
import { appendFacts, type Service } from './service.ts';
import { VERSION } from './version.ts';
import { WorkInProgress } from './work-in-progress.ts';

export interface DaemonOptions {
  dataDirectory: string;
  environment?: Environment;
  /** Where the log, the projections and the files lie; LevelDB and the disk unless said. */
  store?: Store;
  database?: DatabaseHome;
  fileSystem?: FileSystem;
  /** Told what went wrong and was mended, or what no caller waits for. */
  onNotice?: (notice: { message: string; error?: unknown }) => void;
  /** Told of each call of an operation that came to its end. */
  onCall?: CallListener;
  gatherWindowMs?: number;
  hostReturnMs?: number;
}

/** A data directory that is open: everything but the transports. The command line uses it in-process. */
export interface Daemon {
  readonly directory: DataDirectory;
  readonly dispatcher: Dispatcher;
  /** What callers may show. */
  readonly tokens: Tokens;
  readonly log: Log;
  readonly projections: Projections;
  readonly since: number;
  /** `ready`, or why nothing can be written. */
  readiness(): string;
  /**
   * Follows the log or the live events until the signal.
   * @throws EventError `invalid_argument`
   */
  subscribe<Name extends SubscriptionName>(
    name: Name,
    parameters: SubscriptionParameters<Name>,
    signal: AbortSignal,
  ): AsyncIterable<Followed<Name>>;
  /** Brings in a CrewCode user-data directory. */
  migrate(options: MigrateOptions): Promise<MigrationReport>;
  /** The same where nothing else has come into the log yet; undefined where something has. */
  migrateAtFirstStart(options: MigrateOptions): Promise<MigrationReport | undefined>;
  /** How it stands, at no cost. */
  figures(): { head: number; bridges: number };
  /** Told by the transports, shown by `daemon.status`. */
  countSubscribers(count: () => number): void;
  /** Finishes what was accepted, and closes. */
  close(): Promise<void>;
}

export async function openDaemon(options: DaemonOptions): Promise<Daemon> {
  const { dataDirectory, environment = systemEnvironment, onNotice = () => {} } = options;
  const {
    store,
    database = levelDatabase(join(dataDirectory, 'projections')),
    fileSystem = nodeFileSystem,
  } = options;
  const directory = new DataDirectory(dataDirectory, fileSystem);
  await directory.create();
  const log = await openLog({
    directory: dataDirectory,
    clock: environment.now,
    fileSystem,
    ...(store !== undefined && { store }),
  });
  try {
    const projections = await openProjections({
      dataDirectory,
      source: log,
      projections: [conversations, sessions, transcripts, bridgesProjection],
      database,
      fileSystem,
      clock: environment,
      bootId: await currentBootId(environment.now()),
      isNew: log.opening.created,
      onNotice,
    });
    try {
      return await compose({ ...options, environment, onNotice }, directory, log, projections);
    } catch (error) {
      await projections.close();
      throw error;
    }
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function compose(
  options: DaemonOptions & Required<Pick<DaemonOptions, 'environment' | 'onNotice'>>,
  directory: DataDirectory,
  log: Log,
  projections: Projections,
): Promise<Daemon> {
  const { environment, onNotice, onCall, gatherWindowMs, hostReturnMs } = options;
  const streams = new KeyedLock();
  const tokenOf = await directory.ownerTokens();
  const commands = new Commands(log, keptAnswers(tokenOf));
  const live: LiveHub = new LiveHub(log, () => bridges.pendingDeltas());
  const bridges: RecordedBridges = new RecordedBridges({
    environment,
    streams,
    append: (stream, facts, completion) => appendFacts(log, stream, facts, completion),
    head: () => log.head(),
    live,
    formerState: async (bridgeId) =>
      (await projections.read('bridges', (tables) => loadBridge(tables, bridgeId))).value,
    meterOf: async (sessionKey) =>
      (await projections.read('sessions', (tables) => getMeter(tables, sessionKey))).value,
    ownerToken: ({ bridgeId, since }: BridgeState) => tokenOf(bridgeId, since),
    onFailure: (error) => onNotice({ message: 'writing for a bridge has failed', error }),
    ...(gatherWindowMs !== undefined && { gatherWindowMs }),
    ...(hostReturnMs !== undefined && { hostReturnMs }),
  });
  bridges.restore((await projections.read('bridges', loadOpenBridges)).value);

  const tokens = await directory.openTokens(environment.now);
  const since = environment.now();
  let subscribers = () => 0;
  const service: Service = {
    log,
    projections,
    bridges,
    streams,
    commands,
    tokens,
    work: new WorkInProgress(environment.now),
    describe: () => ({
      version: VERSION,
      mode: 'single',
      data: directory.path,
      since,
      subscribers: subscribers(),
    }),
  };
  return {
    directory,
    dispatcher: createDispatcher(createHandlers(service), commands, onCall),
    tokens,
    log,
    projections,
    since,
    readiness: () => log.state().state,
    subscribe: createSubscriptions(log, live),
    migrate: (migrateOptions) => migrate(service, migrateOptions),
    migrateAtFirstStart: (migrateOptions) => migrateAtFirstStart(service, migrateOptions),
    figures: () => ({ head: log.head(), bridges: bridges.size }),
    countSubscribers: (count) => {
      subscribers = count;
    },
    async close() {
      await bridges.close();
      await streams.idle();
      live.close();
      await projections.close();
      await log.close();
    },
  };
}
