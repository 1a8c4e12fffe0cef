import { join } from 'node:path';
import type { BridgeState } from '@turnlog/bridge';
import type { SubscriptionName, SubscriptionParameters } from '@turnlog/events';
import { currentBootId, type Log, nodeFileSystem, openLog } from '@turnlog/log';
import {
  conversations,
  getMeter,
  levelDatabase,
  type MigrationReport,
  openProjections,
  type Projections,
  sessions,
  transcripts,
} from '@turnlog/projections';
import { bridgesProjection, loadBridge, loadOpenBridges } from './bridges/projection.ts';
import { RecordedBridges } from './bridges/recorded-bridges.ts';
import { DataDirectory } from './data-directory.ts';
import { type Environment, systemEnvironment } from './environment.ts';
import { KeyedLock } from './keyed-lock.ts';
import { LiveHub } from './live/live-hub.ts';
import { createSubscriptions, type Followed } from './live/subscriptions.ts';
import { type MigrateOptions, migrate } from './migrate.ts';
import { createDispatcher, type Dispatcher } from './operations/dispatcher.ts';
import { createHandlers } from './operations/handlers.ts';
import { appendFacts, type Service } from './service.ts';
import { VERSION } from './version.ts';

export interface DaemonOptions {
  dataDirectory: string;
  environment?: Environment;
  /** Told what went wrong and was mended, or what no caller waits for. */
  onNotice?: (notice: { message: string; error?: unknown }) => void;
  gatherWindowMs?: number;
  hostReturnMs?: number;
}

/** A data directory that is open: everything but the transports. The command line uses it in-process. */
export interface Daemon {
  readonly directory: DataDirectory;
  readonly dispatcher: Dispatcher;
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
  /** Told by the transports, shown by `daemon.status`. */
  countSubscribers(count: () => number): void;
  /** Finishes what was accepted, and closes. */
  close(): Promise<void>;
}

export async function openDaemon(options: DaemonOptions): Promise<Daemon> {
  const { dataDirectory, environment = systemEnvironment, onNotice = () => {} } = options;
  const directory = new DataDirectory(dataDirectory, nodeFileSystem);
  await directory.create();
  const log = await openLog({ directory: dataDirectory, clock: environment.now });
  try {
    const projections = await openProjections({
      dataDirectory,
      source: log,
      projections: [conversations, sessions, transcripts, bridgesProjection],
      database: levelDatabase(join(dataDirectory, 'projections')),
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
  const { environment, onNotice, gatherWindowMs, hostReturnMs } = options;
  const streams = new KeyedLock();
  const tokenOf = await directory.ownerTokens();
  const live: LiveHub = new LiveHub(log, () => bridges.pendingDeltas());
  const bridges: RecordedBridges = new RecordedBridges({
    environment,
    streams,
    append: (stream, facts) => appendFacts(log, stream, facts),
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

  const since = environment.now();
  let subscribers = () => 0;
  const service: Service = {
    log,
    projections,
    bridges,
    streams,
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
    dispatcher: createDispatcher(createHandlers(service)),
    log,
    projections,
    since,
    readiness: () => log.state().state,
    subscribe: createSubscriptions(log, live),
    migrate: (migrateOptions) => migrate(service, migrateOptions),
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
