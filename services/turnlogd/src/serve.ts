import type { MigrationReport } from '@turnlog/projections';
import { pino } from 'pino';
import type { Daemon } from './daemon.ts';
import { startHttp } from './http/server.ts';
import { prepareSocketPath } from './http/unix-socket.ts';
import { Metrics } from './metrics.ts';
import { assertApart } from './migration/assert-directory.ts';
import { VERSION } from './version.ts';
import { openDaemonPatiently, WaitingDaemon } from './waiting-daemon.ts';

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 7717;
export const DEFAULT_LOG_LEVEL = 'warn';
export const LOG_LEVELS: readonly string[] = ['error', 'warn', 'info', 'debug'];

export interface ServeOptions {
  dataDirectory: string;
  host?: string;
  port?: number;
  /** `XDG_RUNTIME_DIR`, for the Unix socket; without it the socket is in the data directory. */
  runtimeDirectory?: string | undefined;
  /** How much the daemon says of itself on standard error. */
  logLevel?: string;
  /** A CrewCode user-data directory that is brought in at the first start, before anybody may write. */
  migrateFrom?: string;
}

export interface RunningDaemon {
  readonly daemon: Daemon;
  /** Where it listens. */
  readonly url: string;
  /** The path of its Unix socket, where it has one. */
  readonly socket: string | undefined;
  /** What was brought in, where this was the first start and there was something to bring in. */
  readonly migrated?: MigrationReport;
  /** Answers and writes what was accepted, then closes. Safe to call more than once. */
  stop(): Promise<void>;
}

/** Opens the data directory, listens, and says where it is found. */
export async function serve(options: ServeOptions): Promise<RunningDaemon> {
  const { dataDirectory, host = DEFAULT_HOST, port = DEFAULT_PORT, logLevel = DEFAULT_LOG_LEVEL } = options;
  const logger = pino({ name: 'turnlogd', level: logLevel }, pino.destination({ dest: 2, sync: true }));
  const metrics = new Metrics();
  // Before anything is made there: a store within the source would be read as part of it.
  if (options.migrateFrom !== undefined) await assertApart(options.migrateFrom, dataDirectory);
  const daemon = await openDaemonPatiently({
    dataDirectory,
    onNotice: ({ message, error }) => logger.warn({ err: error }, message),
    onCall: metrics.onCall,
  });
  try {
    const { migrateFrom } = options;
    const migrated =
      migrateFrom === undefined ? undefined : await daemon.migrateAtFirstStart({ directory: migrateFrom });
    const isWaiting = daemon instanceof WaitingDaemon;
    // Only who holds the store may take away the socket of another.
    const socketPath = isWaiting
      ? undefined
      : await prepareSocketPath({
          dataDirectory,
          runtimeDirectory: options.runtimeDirectory,
          onNotice: (message) => logger.warn(message),
        });
    const http = await startHttp({ host, port, socketPath, daemon, metrics, logger });
    const socket = http.socketPath;
    metrics.watch(daemon, http);
    daemon.countSubscribers(http.subscribers);
    const writeAddress = () =>
      daemon.directory.writeAddress({
        addresses: [http.url],
        ...(socket !== undefined && { socket }),
        version: VERSION,
        since: daemon.since,
      });
    if (!isWaiting) await writeAddress();
    else daemon.whenOpen(() => writeAddress().catch((error) => logger.error({ err: error }, 'no address')));
    let stopped: Promise<void> | undefined;
    return {
      daemon,
      url: http.url,
      socket,
      ...(migrated !== undefined && { migrated }),
      stop() {
        stopped ??= (async () => {
          await daemon.directory.removeAddress();
          await http.close();
          await daemon.close();
        })();
        return stopped;
      },
    };
  } catch (error) {
    await daemon.close();
    throw error;
  }
}
