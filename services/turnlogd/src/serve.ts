import { pino } from 'pino';
import { type Daemon, openDaemon } from './daemon.ts';
import { startHttp } from './http/server.ts';
import { VERSION } from './version.ts';

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 7717;

export interface ServeOptions {
  dataDirectory: string;
  host?: string;
  port?: number;
  /** How much the daemon says of itself on standard error. */
  logLevel?: string;
}

export interface RunningDaemon {
  readonly daemon: Daemon;
  /** Where it listens. */
  readonly url: string;
  /** Answers and writes what was accepted, then closes. Safe to call more than once. */
  stop(): Promise<void>;
}

/** Opens the data directory, listens, and says where it is found. */
export async function serve(options: ServeOptions): Promise<RunningDaemon> {
  const { dataDirectory, host = DEFAULT_HOST, port = DEFAULT_PORT, logLevel = 'warn' } = options;
  const logger = pino({ name: 'turnlogd', level: logLevel }, pino.destination({ dest: 2, sync: true }));
  const daemon = await openDaemon({
    dataDirectory,
    onNotice: ({ message, error }) => logger.warn({ err: error }, message),
  });
  try {
    const http = await startHttp({
      host,
      port,
      token: await daemon.directory.token(),
      dispatcher: daemon.dispatcher,
      subscribe: daemon.subscribe,
      readiness: daemon.readiness,
      logger,
    });
    daemon.countSubscribers(http.subscribers);
    await daemon.directory.writeAddress({ addresses: [http.url], version: VERSION, since: daemon.since });
    let stopped: Promise<void> | undefined;
    return {
      daemon,
      url: http.url,
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
