import type {
  Envelope,
  LiveEvent,
  OperationName,
  OperationParameters,
  OperationResult,
  SubscriptionParameters,
} from '@turnlog/events';
import { callSync } from './call-sync.ts';
import { Connection } from './connection.ts';
import type { Locate } from './endpoint.ts';
import { ClientError } from './errors.ts';
import { type FollowOptions, followLive, followLog } from './follow.ts';
import { type Call, type Namespaces, namespacesOf } from './namespaces.ts';
import { type OpenedBridge, RecordedBridge, type RecordOptions } from './recorded-bridge.ts';
import type { FrameAnswer } from './report-sender.ts';
import { CALL_TIMEOUT_MS, timeoutOf } from './timeouts.ts';

/**
 * The operations of a daemon, as `call(name, …)` and by their names, as in `conversation.load(…)`; and what
 * takes more than one call. The connection is opened when it is needed, and again when it was lost.
 */
export interface Client extends Namespaces {
  /** Where the daemon is, for people. */
  readonly address: string;
  readonly call: Call;
  readonly transcripts: Namespaces['transcripts'] & {
    /**
     * `transcripts.saveBatch` for the teardown of a host: blocks until it is acknowledged.
     * @throws ClientError also `timed_out`, after which what it came to is unknown
     */
    saveBatchSync(
      entries: OperationParameters<'transcripts.saveBatch'>['entries'],
      options?: { timeoutMs?: number },
    ): OperationResult<'transcripts.saveBatch'>;
  };
  /** Opens a bridge whose events this host reports, or goes on with one that is open. */
  recordBridge(options: RecordOptions): Promise<RecordedBridge>;
  /**
   * The log from a seq on (1 unless said) and then as it grows, every event once and in order, also over
   * restarts of the daemon.
   * @throws ClientError `internal` where an event is missing; whatever does not pass by itself
   */
  subscribe(options?: FollowOptions & SubscriptionParameters<'log.subscribe'>): AsyncIterable<Envelope>;
  /**
   * The live events of bridges: with `from` the structural ones from a seq on, then everything as it
   * happens; without it what happens from now on.
   */
  live(options?: FollowOptions & SubscriptionParameters<'live.subscribe'>): AsyncIterable<LiveEvent>;
  /** Ends the connection, and with it recorded bridges that are still open: close them first. */
  close(): void;
}

const SYNC_TIMEOUT_MS = 5_000;

/** A client of the daemon that is found where `locate` says. */
export function clientOf(connection: Connection): Client {
  const call: Call = async (name, parameters, options = {}) => {
    const { timeoutMs = timeoutOf(name), signal } = options;
    const result = await connection.call(name, JSON.stringify(parameters), { timeoutMs, signal });
    return result as OperationResult<typeof name>;
  };
  const callFrom = (name: OperationName) => (parameters: string) =>
    connection.call(name, parameters, { timeoutMs: CALL_TIMEOUT_MS });
  const namespaces = namespacesOf(call);
  return {
    ...namespaces,
    get address() {
      return connection.address;
    },
    call,
    transcripts: {
      ...namespaces.transcripts,
      saveBatchSync: (entries, { timeoutMs = SYNC_TIMEOUT_MS } = {}) =>
        callSync(
          connection.locate(),
          'transcripts.saveBatch',
          JSON.stringify({ entries }),
          timeoutMs,
        ) as OperationResult<'transcripts.saveBatch'>,
    },
    async recordBridge(options) {
      const { onEmitted, queueEventsMax, queueBytesMax, timing, ...request } = options;
      const opened: OpenedBridge = await call('bridge.record', request);
      const event = callFrom('bridge.event') as (parameters: string) => Promise<FrameAnswer>;
      return new RecordedBridge(options, opened, { event, stop: callFrom('bridge.stop') });
    },
    subscribe: (options = {}) => followLog(connection, options),
    live: (options = {}) => followLive(connection, options),
    close: () => connection.close(),
  };
}

/** A client of the daemon at an address, such as `http://127.0.0.1:7717`. */
export function createClient({ address, token }: { address: string; token: string }): Client {
  const protocol = URL.canParse(address) ? new URL(address).protocol : '';
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new ClientError('invalid_argument', 'address must be such as http://127.0.0.1:7717');
  }
  const locate: Locate = () => [{ address, token }];
  return clientOf(new Connection(locate, address));
}
