import { setTimeout as delay } from 'node:timers/promises';

export interface BackOff {
  /** The wait before the first new attempt, in milliseconds; each further one is twice as long. */
  firstDelayMs: number;
  delayMsMax: number;
}

export const BACK_OFF: BackOff = { firstDelayMs: 50, delayMsMax: 2_000 };

/**
 * Waits before another attempt, a little less or more each time so that many clients do not come at once.
 * Ends early, without an error, where the signal ends it.
 * @param attempt how many have failed: 1, 2, 3 …
 */
export async function backOff(
  attempt: number,
  { firstDelayMs, delayMsMax }: BackOff,
  signal?: AbortSignal,
): Promise<void> {
  const fullMs = Math.min(firstDelayMs * 2 ** (attempt - 1), delayMsMax);
  try {
    await delay(fullMs * (0.75 + Math.random() / 4), undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}
