import type { LiveEvent } from '@turnlog/events';
import { tooSlow } from '../operations/refusals.ts';

/** What one subscriber may leave unread. */
export const UNREAD_EVENTS_MAX = 10_000;
export const UNREAD_LENGTH_MAX = 8 * 1024 * 1024;

/** The live events that wait for one subscriber. Bounded: one who does not read is told so, and ended. */
export class LiveQueue {
  #waiting: LiveEvent[] = [];
  #length = 0;
  #tooSlow = false;
  #wake: (() => void) | undefined;

  push(event: LiveEvent): void {
    if (this.#tooSlow) return;
    this.#length += lengthOf(event);
    this.#waiting.push(event);
    if (this.#waiting.length > UNREAD_EVENTS_MAX || this.#length > UNREAD_LENGTH_MAX) {
      this.#tooSlow = true;
      this.#waiting = [];
    }
    this.#wake?.();
  }

  /**
   * What waits, and then what comes, until the signal.
   * @throws DaemonError `too_slow` where more was left unread than may be
   */
  async *read(signal: AbortSignal): AsyncGenerator<LiveEvent, void, undefined> {
    const wake = () => this.#wake?.();
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        if (this.#tooSlow) throw tooSlow();
        const events = this.#waiting;
        this.#waiting = [];
        this.#length = 0;
        for (const event of events) {
          if (signal.aborted) return;
          yield event;
        }
        if (events.length === 0 && !signal.aborted) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }
}

/** About how much a live event weighs: its texts, and something for the rest. */
function lengthOf(event: LiveEvent): number {
  let length = 100;
  for (const value of Object.values(event)) if (typeof value === 'string') length += value.length;
  return length;
}
