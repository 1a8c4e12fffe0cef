import type { Environment } from '../environment.ts';

/** What the outbox writes to. */
export interface Sink {
  /** Sends a frame; `sent` is called when it has left this process, or never will. */
  send(frame: Buffer, sent: () => void): void;
}

export interface OutboxLimits {
  /** Unsent bytes above which nothing more is begun. */
  unsentBytesMax: number;
  /** How long nothing may leave while there is more than that. */
  stallTimeoutMs: number;
}

/**
 * What waits to be sent on one connection. Who has more to send waits for room, so that what a slow reader has
 * not taken stays where it comes from; one who takes nothing for long is given up.
 */
export class Outbox {
  readonly #sink: Sink;
  readonly #limits: OutboxLimits;
  readonly #after: Environment['after'];
  readonly #onStalled: () => void;
  #unsentBytes = 0;
  #waiting: (() => void)[] = [];
  #cancelTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(sink: Sink, limits: OutboxLimits, after: Environment['after'], onStalled: () => void) {
    this.#sink = sink;
    this.#limits = limits;
    this.#after = after;
    this.#onStalled = onStalled;
  }

  get hasRoom(): boolean {
    return this.#unsentBytes <= this.#limits.unsentBytesMax;
  }

  send(text: string): void {
    if (this.#isClosed) return;
    const frame = Buffer.from(text);
    this.#unsentBytes += frame.length;
    this.#sink.send(frame, () => this.#sent(frame.length));
    if (!this.hasRoom) this.#cancelTimer ??= this.#startTimer();
  }

  /** Resolves when there is room, or when the connection is closed. */
  async room(): Promise<void> {
    while (!this.hasRoom && !this.#isClosed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
    this.#wake();
  }

  #sent(bytes: number): void {
    this.#unsentBytes -= bytes;
    this.#stopTimer();
    if (this.#isClosed) return;
    if (this.hasRoom) this.#wake();
    else this.#cancelTimer = this.#startTimer();
  }

  #startTimer(): () => void {
    return this.#after(this.#limits.stallTimeoutMs, () => {
      this.#cancelTimer = undefined;
      this.#onStalled();
    });
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
