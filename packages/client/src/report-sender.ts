/**
 * Sends what a queue holds, one frame at a time, until it is told to end. What is under way when the daemon
 * goes away is sent again with its numbers. A daemon that is not there is tried for ever, with pauses.
 */
import { setImmediate } from 'node:timers/promises';
import { BACK_OFF, type BackOff, backOff } from './back-off.ts';
import { type ClientError, hasCode, isPassing } from './errors.ts';
import type { Frame, ReportQueue } from './report-queue.ts';

export interface SenderTiming extends BackOff {
  /** Deltas are on disk soon after they were accepted; while somebody waits for that, it is asked so often. */
  durablePollMs: number;
  /** After a restart an open turn waits 30 s for its host, which says so often that it is there. */
  presenceIntervalMs: number;
}

export const SENDER_TIMING: SenderTiming = { ...BACK_OFF, durablePollMs: 100, presenceIntervalMs: 10_000 };

/** What the daemon answers to a frame. */
export interface FrameAnswer {
  accepted: number;
  durableThrough: number;
  emitted: unknown[];
}

export interface SenderOptions {
  bridgeId: string;
  queue: ReportQueue;
  /** Calls `bridge.event` with parameters as JSON. */
  send(parameters: string): Promise<FrameAnswer>;
  /** Whether somebody waits for what was accepted to be on disk. */
  isAwaited(): boolean;
  hasOpenTurn(): boolean;
  /** The queue has moved on. */
  onProgress(emitted: readonly unknown[]): void;
  timing: SenderTiming;
}

export class ReportSender {
  readonly #options: SenderOptions;
  readonly #ended = new AbortController();
  #wake: (() => void) | undefined;
  #failures = 0;
  /** The event that ends the bridge was sent, and what came of it is not known. */
  #isLastInDoubt = false;
  /** Why nothing gets through just now, while it is tried again. */
  trouble: ClientError | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** The end of it, where nothing is sent any more. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Runs until the bridge has ended or `end` is called.
   * @throws ClientError what does not pass by itself
   */
  async run(): Promise<void> {
    for (;;) {
      const frame = await this.#nextFrame();
      if (frame === undefined) return;
      await this.#exchange(frame);
    }
  }

  /** There may be something to do. */
  wake(): void {
    this.#wake?.();
  }

  end(): void {
    this.#ended.abort();
    this.wake();
  }

  /** The next frame; one without events asks where the daemon stands. */
  async #nextFrame(): Promise<Frame | undefined> {
    const { queue, isAwaited, hasOpenTurn, timing } = this.#options;
    for (;;) {
      // What is reported in one turn of the event loop shares a frame.
      await setImmediate();
      if (this.signal.aborted) return undefined;
      const frame = queue.nextFrame();
      if (frame !== undefined) return frame;
      const isHeldBack = queue.accepted < queue.reported;
      const isPolled = queue.size > 0 && (isAwaited() || isHeldBack);
      const presenceMs = hasOpenTurn() ? timing.presenceIntervalMs : undefined;
      const delayMs = isPolled ? timing.durablePollMs : presenceMs;
      const isWoken = await this.#sleep(delayMs, isPolled);
      if (!isWoken) return { first: undefined, events: [] };
    }
  }

  /** Sleeps until woken, or for a time; answers which. */
  async #sleep(delayMs: number | undefined, keepsProcess: boolean): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve) => {
        this.#wake = () => resolve(true);
        if (delayMs === undefined) return;
        timer = setTimeout(() => resolve(false), delayMs);
        if (!keepsProcess) timer.unref();
      });
    } finally {
      clearTimeout(timer);
      this.#wake = undefined;
    }
  }

  async #exchange({ first, events }: Frame): Promise<void> {
    const { bridgeId, queue, send, onProgress } = this.#options;
    const isLast = events.length > 0 && queue.isAtLast;
    const number = first === undefined ? '' : `"first":${first},`;
    try {
      const answer = await send(`{"bridgeId":${JSON.stringify(bridgeId)},${number}"events":[${events}]}`);
      this.#failures = 0;
      this.trouble = undefined;
      queue.settle(answer);
      if (isLast) this.end();
      onProgress(answer.emitted);
    } catch (error) {
      if (isLast && this.#isLastInDoubt && hasCode(error, 'bridge_not_found')) {
        queue.settleLast();
        this.end();
        onProgress([]);
      } else if (hasCode(error, 'event_gap')) {
        queue.settle({ accepted: acceptedOf(error) });
      } else {
        await this.#wait(error, isLast);
      }
    }
  }

  async #wait(error: unknown, isLast: boolean): Promise<void> {
    if (!isPassing(error)) throw error;
    this.trouble = error;
    this.#isLastInDoubt ||= isLast;
    this.#failures += 1;
    await backOff(this.#failures, this.#options.timing, this.signal);
  }
}

function acceptedOf(error: ClientError): number {
  const accepted = error.details?.accepted;
  if (typeof accepted === 'number') return accepted;
  throw error;
}
