import { join } from 'node:path';
import type { BridgeState } from '@turnlog/bridge';
import type { SubscriptionName, SubscriptionParameters } from '@turnlog/events';
import { currentBootId, type FileSystem, type Log, nodeFileSystem, openLog, type Store } from '@turnlog/log';
import {
  conversations,
  type DatabaseHome,
  levelDatabase,
  type MigrationReport,
  openProjections,
  type Projections,
  sessions,
  transcripts,
} from '@turnlog/projections';
import type { Tokens } from './access/tokens.ts';
import { bridgeReads } from './bridges/bridge-reads.ts';
import { bridgesProjection } from './bridges/projection.ts';
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
  /** Those of the directory, where they are open already. */
  tokens?: Tokens;
  /** Told what went wrong and was mended, or what no caller waits for. */
  onNotice?: (notice: { message: string; error?: unknown }) => void;
  /** Told of each call of an operation that came to its end. */
  onCall?: CallListener;
  gatherWindowMs?: number;
  hostReturnMs?: number;
  bridgesInMemoryMax?: number;
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
  /**
   * `ready`; `read_only` or `unavailable` after a failed write, until the store was opened again;
   * `projections_failed` where events are accepted and not all that is read of them is up to date.
   */
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
  for (const line of log.opening.dropped)
    onNotice({ message: `LevelDB left something out of the log: ${line}` });
  if (log.opening.indexRebuilt) onNotice({ message: 'the index was made anew from the log' });
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
  const { environment, onNotice, onCall, gatherWindowMs, hostReturnMs, bridgesInMemoryMax } = options;
  const streams = new KeyedLock();
  const tokenOf = await directory.ownerTokens();
  const commands = new Commands(log, keptAnswers(tokenOf));
  const live: LiveHub = new LiveHub(log, () => bridges.pendingDeltas());
  const reads = bridgeReads(projections);
  const bridges: RecordedBridges = new RecordedBridges({
    environment,
    streams,
    append: (stream, facts, completion) => appendFacts(log, stream, facts, completion),
    head: () => log.head(),
    live,
    ...reads,
    unsettled: () => {
      const state = log.state();
      return state.state === 'ready' ? undefined : state.reason;
    },
    ownerToken: ({ bridgeId, since }: BridgeState) => tokenOf(bridgeId, since),
    onFailure: (error) => onNotice({ message: 'writing for a bridge has failed', error }),
    ...(gatherWindowMs !== undefined && { gatherWindowMs }),
    ...(hostReturnMs !== undefined && { hostReturnMs }),
    ...(bridgesInMemoryMax !== undefined && { bridgesInMemoryMax }),
  });
  await bridges.restore(await reads.inTurn());
  const stopListening = log.onReopened((reason) => {
    onNotice({ message: `the log was opened again and takes appends: ${reason.message}` });
    const failed = (error: unknown) => onNotice({ message: 'bridges could not be read again', error });
    bridges.settle().catch(failed);
  });

  const tokens = options.tokens ?? (await directory.openTokens(environment.now));
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
    readiness: () => readinessOf(log, projections),
    subscribe: createSubscriptions(log, live),
    migrate: (migrateOptions) => migrate(service, migrateOptions),
    migrateAtFirstStart: (migrateOptions) => migrateAtFirstStart(service, migrateOptions),
    figures: () => ({ head: log.head(), bridges: bridges.size }),
    countSubscribers: (count) => {
      subscribers = count;
    },
    async close() {
      stopListening();
      await bridges.close();
      await streams.idle();
      live.close();
      await projections.close();
      await log.close();
    },
  };
}

function readinessOf(log: Log, projections: Projections): string {
  const { state } = log.state();
  return state === 'ready' && projections.failure !== undefined ? 'projections_failed' : state;
}
