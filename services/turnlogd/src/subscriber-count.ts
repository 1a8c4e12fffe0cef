import { DaemonError } from './errors.ts';

export const SUBSCRIBERS_MAX = 256;

/** How many follow something, over all transports. */
export class SubscriberCount {
  #current = 0;

  get current(): number {
    return this.#current;
  }

  /**
   * @returns how to say, once, that the subscriber is gone
   * @throws DaemonError `overloaded` where there are as many as may be
   */
  take(): () => void {
    if (this.#current >= SUBSCRIBERS_MAX) {
      throw new DaemonError('overloaded', `at most ${SUBSCRIBERS_MAX} subscriptions at once`);
    }
    this.#current += 1;
    let isGone = false;
    return () => {
      if (!isGone) this.#current -= 1;
      isGone = true;
    };
  }
}
