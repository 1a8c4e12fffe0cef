/**
 * A bridge whose host reports what its agent does. Every event reaches the log exactly once and in order,
 * whatever becomes of the daemon or of an answer: events are numbered in the order of the calls, one frame
 * is under way at a time, what waits meanwhile goes into the next one, and what is not known to be on disk
 * is kept and sent again.
 */
import { checkReports, type LiveEvent, type OperationParameters, type ReportedEvent } from '@turnlog/events';
import { backOff } from './back-off.ts';
import { ClientError, hasCode, isPassing, timedOut } from './errors.ts';
import { type Deferred, deferred } from './http-request.ts';
import { ReportQueue } from './report-queue.ts';
import { type FrameAnswer, ReportSender, SENDER_TIMING, type SenderTiming } from './report-sender.ts';

/** From here on `report` waits for room; at twice as much it refuses. */
export const QUEUE_EVENTS_MAX = 10_000;
export const QUEUE_BYTES_MAX = 16 * 1024 * 1024;
/** The longest event, in characters of JSON. */
export const EVENT_LENGTH_MAX = 16 * 1024 * 1024;
const DURABLE_TIMEOUT_MS = 60_000;

export interface RecordOptions extends OperationParameters<'bridge.record'> {
  /** Told the events as the daemon normalized them, in order. */
  onEmitted?: (events: LiveEvent[]) => void;
  queueEventsMax?: number;
  queueBytesMax?: number;
  timing?: Partial<SenderTiming>;
}

/** What opening the bridge answered. */
export interface OpenedBridge {
  ownerToken: string;
  accepted: number;
  durableThrough: number;
  attached: boolean;
}

/** Calls the daemon with parameters as JSON. */
export interface BridgeCalls {
  event(parameters: string): Promise<FrameAnswer>;
  stop(parameters: string): Promise<unknown>;
}

interface WaitOptions {
  /** How long to wait; a minute unless said. */
  timeoutMs?: number;
}

export class RecordedBridge {
  readonly bridgeId: string;
  /** Proves that this host opened the bridge. */
  readonly ownerToken: string;
  /** It was open already: an earlier process has reported on it, and this one goes on. */
  readonly attached: boolean;
  readonly #options: RecordOptions;
  readonly #timing: SenderTiming;
  readonly #calls: BridgeCalls;
  readonly #queue: ReportQueue;
  readonly #sender: ReportSender;
  readonly #durableWaits = new Set<{ count: number; wait: Deferred<void> }>();
  #roomWaits: Deferred<void>[] = [];
  #openTurn: string | undefined;
  #isClosed = false;
  #failure: unknown;

  constructor(options: RecordOptions, opened: OpenedBridge, calls: BridgeCalls) {
    this.bridgeId = options.bridgeId;
    this.ownerToken = opened.ownerToken;
    this.attached = opened.attached;
    this.#options = options;
    this.#timing = { ...SENDER_TIMING, ...options.timing };
    this.#calls = calls;
    this.#queue = new ReportQueue(opened);
    this.#sender = new ReportSender({
      bridgeId: options.bridgeId,
      queue: this.#queue,
      send: (parameters) => calls.event(parameters),
      isAwaited: () => this.#durableWaits.size > 0 || this.#roomWaits.length > 0,
      hasOpenTurn: () => this.#openTurn !== undefined,
      onProgress: (emitted) => this.#moveOn(emitted as LiveEvent[]),
      timing: this.#timing,
    });
    this.#sender.run().catch((error: unknown) => this.#fail(error));
  }

  /** How many events are kept here because they are not known to be on disk. */
  get pending(): number {
    return this.#queue.size;
  }

  /** Why nothing gets through just now, while it is tried again; undefined while all is well. */
  get trouble(): ClientError | undefined {
    return this.#sender.trouble;
  }

  /**
   * Reports one event. It takes its place at once; the promise waits only where so much is pending that the
   * host should slow down. Whoever does not look at the promise learns of a failure from `durable`.
   * @throws EventError `invalid_argument` for an event of another shape, which is not reported
   * @throws ClientError `too_large` for an event that is too long, or where twice as much is pending as
   *   should be: it is not reported; `bridge_not_found` after the end; what ended the recording
   */
  report(event: ReportedEvent): Promise<void> {
    const reported = this.#report(event);
    reported.catch(() => {
      // Not unhandled: it is in the promise that the host was given.
    });
    return reported;
  }

  /** Reports what the user wrote. */
  prompt(text: string, options: { turnId?: string; promptId?: string } = {}): Promise<void> {
    return this.report({ type: 'prompt', text, ...options });
  }

  /**
   * Waits until everything that was reported before is on disk, also through restarts of the daemon.
   * @throws ClientError `timed_out`, and it is tried further all the same; what ended the recording
   */
  async durable({ timeoutMs = DURABLE_TIMEOUT_MS }: WaitOptions = {}): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const count = this.#queue.reported;
    if (this.#queue.durable >= count) return;
    const waiting = { count, wait: deferred<void>() };
    this.#durableWaits.add(waiting);
    this.#sender.wake();
    const timer = setTimeout(() => {
      const trouble = this.trouble === undefined ? '' : ` (${this.trouble.message})`;
      waiting.wait.reject(timedOut(`the wait for what was reported to be on disk${trouble}`, timeoutMs));
    }, timeoutMs);
    try {
      await waiting.wait.promise;
    } finally {
      clearTimeout(timer);
      this.#durableWaits.delete(waiting);
    }
  }

  /** Takes nothing more, waits until everything is on disk, and ends the bridge. */
  async close({ timeoutMs = DURABLE_TIMEOUT_MS }: WaitOptions = {}): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    this.#isClosed = true;
    await this.durable({ timeoutMs });
    if (this.#sender.signal.aborted) return;
    this.#sender.end();
    for (let failures = 1; ; failures += 1) {
      try {
        await this.#calls.stop(JSON.stringify({ bridgeId: this.bridgeId }));
        return;
      } catch (error) {
        if (hasCode(error, 'bridge_not_found')) return;
        if (!isPassing(error) || performance.now() > deadline) throw error;
        await backOff(failures, this.#timing);
      }
    }
  }

  /** Takes nothing more, waits until everything is on disk, and leaves the bridge open for another process. */
  async detach(options: WaitOptions = {}): Promise<void> {
    this.#isClosed = true;
    await this.durable(options);
    this.#sender.end();
  }

  async #report(event: ReportedEvent): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isClosed) throw new ClientError('bridge_not_found', `the bridge ${this.bridgeId} is closed`);
    checkReports(this.bridgeId, [event]);
    const text = JSON.stringify(event);
    if (text.length > EVENT_LENGTH_MAX) {
      throw new ClientError('too_large', `an event is at most ${EVENT_LENGTH_MAX} characters long`);
    }
    if (this.#isFilledTo(2)) {
      throw new ClientError('too_large', `${this.pending} events wait to be on disk, and no more are taken`);
    }
    const isLast = event.type === 'closed' || event.type === 'idle_stopped';
    this.#queue.add(text, isLast);
    this.#isClosed = isLast;
    this.#openTurn = turnAfter(event, this.#openTurn);
    this.#sender.wake();
    if (!this.#isFilledTo(1)) return;
    const wait = deferred<void>();
    this.#roomWaits.push(wait);
    await wait.promise;
  }

  #isFilledTo(times: number): boolean {
    const { queueEventsMax = QUEUE_EVENTS_MAX, queueBytesMax = QUEUE_BYTES_MAX } = this.#options;
    return this.#queue.size >= queueEventsMax * times || this.#queue.bytes >= queueBytesMax * times;
  }

  #moveOn(emitted: LiveEvent[]): void {
    for (const { count, wait } of this.#durableWaits) {
      if (count <= this.#queue.durable) wait.resolve();
    }
    if (!this.#isFilledTo(1)) {
      for (const wait of this.#roomWaits.splice(0)) wait.resolve();
    }
    const { onEmitted } = this.#options;
    // What the host does with them is its own affair, its errors too.
    if (onEmitted !== undefined && emitted.length > 0) queueMicrotask(() => onEmitted(emitted));
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#sender.end();
    for (const { wait } of this.#durableWaits) wait.reject(error);
    for (const wait of this.#roomWaits.splice(0)) wait.reject(error);
  }
}

/** The turn that is open after an event. */
function turnAfter(event: ReportedEvent, openTurn: string | undefined): string | undefined {
  switch (event.type) {
    case 'turn_end':
    case 'error':
      return event.turnId === openTurn ? undefined : openTurn;
    case 'turn_start':
    case 'text_delta':
    case 'thinking_delta':
    case 'tool_start':
      return event.turnId;
    case 'closed':
    case 'idle_stopped':
      return undefined;
    default:
      return openTurn;
  }
}
