import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Daemon } from './daemon.ts';
import type { CallListener } from './operations/dispatcher.ts';

/** Where the buckets of the latency end, in seconds. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** What the transports know. */
export interface TransportFigures {
  subscribers(): number;
  webSockets(): number;
}

/**
 * Figures about the daemon in the text format of Prometheus. Labels are names of turnlog's own (operations,
 * codes, projections): nothing that a caller made up, no key and no content is one.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #calls: Counter<'operation' | 'code'>;
  readonly #latency: Histogram<'operation'>;
  /** Brings the gauges up to date. */
  #look = async (): Promise<void> => {};

  constructor() {
    const registers = [this.#registry];
    this.#calls = new Counter({
      name: 'turnlog_operations_total',
      help: 'Calls of operations, by the code that they ended with.',
      labelNames: ['operation', 'code'],
      registers,
    });
    this.#latency = new Histogram({
      name: 'turnlog_operation_duration_seconds',
      help: 'How long operations took.',
      labelNames: ['operation'],
      buckets: LATENCY_BUCKETS,
      registers,
    });
  }

  /** Counts a call. */
  readonly onCall: CallListener = ({ operation, code, durationMs }) => {
    this.#calls.inc({ operation, code });
    this.#latency.observe({ operation }, durationMs / 1_000);
  };

  /** Also tells how the daemon stands, each time that it is asked. */
  watch(daemon: Pick<Daemon, 'figures' | 'projections' | 'readiness'>, transports: TransportFigures): void {
    const gauge = (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name, help, labelNames, registers: [this.#registry] });
    const head = gauge('turnlog_log_head', 'The seq of the last event.');
    const bridges = gauge('turnlog_bridges', 'Bridges that are open.');
    const subscribers = gauge('turnlog_subscribers', 'Who follows the log or live events.');
    const webSockets = gauge('turnlog_web_sockets', 'WebSocket connections.');
    const ready = gauge('turnlog_ready', '1 where events are accepted.');
    const lag = gauge('turnlog_projection_lag', 'Events that it is behind the log.', ['projection']);
    const files = gauge(
      'turnlog_projection_waiting_files',
      'Files that do not show yet what the tables hold.',
      ['projection'],
    );
    this.#look = async () => {
      head.set(daemon.figures().head);
      bridges.set(daemon.figures().bridges);
      subscribers.set(transports.subscribers());
      webSockets.set(transports.webSockets());
      ready.set(Number(daemon.readiness() === 'ready'));
      for (const projection of await daemon.projections.status()) {
        lag.set({ projection: projection.name }, projection.lag);
        files.set({ projection: projection.name }, projection.waitingFiles);
      }
    };
  }

  /** All figures, with those of the process. */
  async text(): Promise<string> {
    await this.#look();
    return `${await this.#registry.metrics()}\n${await processRegistry().metrics()}`;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }
}

let ofProcess: Registry | undefined;

/** The figures of the process are its own, however many daemons are in it. */
function processRegistry(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}
