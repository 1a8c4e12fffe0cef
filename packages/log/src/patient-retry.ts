/** Runs a task once after a delay; the answer cancels it. */
export type Timer = (delayMs: number, task: () => void) => () => void;

/** The timer of the system; it keeps no process alive. */
export const systemTimer: Timer = (delayMs, task) => {
  const timer = setTimeout(task, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};

export interface PatientRetryOptions {
  after: Timer;
  delayMs: number;
  delayMsMax: number;
  /** Whether an attempt may succeed, asked before each. Where it cannot be told it is tried. */
  isWorthwhile(): Promise<boolean>;
  /** Answers whether there is nothing left to try. It does not throw. */
  attempt(): Promise<boolean>;
}

/**
 * Tries to mend something until it is mended: at once costly and rarely of use, so it waits first until an
 * attempt is worthwhile, and after an attempt that failed twice as long as before.
 */
export class PatientRetry {
  readonly #options: PatientRetryOptions;
  #failures = 0;
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;
  /** Asked for while an attempt was under way, which may have come too early for it. */
  #again = false;
  #stopped = false;

  constructor(options: PatientRetryOptions) {
    this.#options = options;
  }

  /** Begins to try, unless that is under way. */
  begin(): void {
    this.#again = true;
    if (this.#stopped || this.#cancel !== undefined || this.#running !== undefined) return;
    const { after, delayMs, delayMsMax } = this.#options;
    this.#cancel = after(Math.min(delayMs * 2 ** this.#failures, delayMsMax), () => {
      this.#cancel = undefined;
      this.#running = this.#try();
    });
  }

  /** Says that what was mended works: the next time begins without patience. */
  worked(): void {
    this.#failures = 0;
  }

  /** Resolves when nothing is tried any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#running;
  }

  async #try(): Promise<void> {
    const { isWorthwhile, attempt } = this.#options;
    this.#again = false;
    const worthwhile = await isWorthwhile().catch(() => true);
    let isOver = false;
    if (worthwhile && !this.#stopped) {
      // Counted before it is known: what was mended and fails again at once is no success.
      this.#failures += 1;
      isOver = await attempt();
    }
    this.#running = undefined;
    if (!isOver || this.#again) this.begin();
  }
}
