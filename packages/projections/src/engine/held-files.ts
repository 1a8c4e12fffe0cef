import type { ProjectionError } from '../errors.ts';
import type { EngineLimits } from './limits.ts';

/** A file that could not be rendered, and waits on its own. */
interface Held {
  error: ProjectionError;
  failures: number;
  /** When it is tried again, in milliseconds since 1970. */
  dueAt: number;
}

/** The files of one projection whose rendering has failed; others are rendered meanwhile. */
export class HeldFiles {
  readonly #limits: EngineLimits;
  readonly #byRef = new Map<string, Held>();

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  /** Why the first of them could not be rendered. */
  get error(): ProjectionError | undefined {
    const [held] = this.#byRef.values();
    return held?.error;
  }

  /** Whether no more of them are remembered. */
  get isFull(): boolean {
    return this.#byRef.size >= this.#limits.heldFilesMax;
  }

  /** Whether the file may be rendered. */
  isDue(ref: string, now: number): boolean {
    return (this.#byRef.get(ref)?.dueAt ?? 0) <= now;
  }

  /** When the first of them is due; never, where there is none. */
  get nextDueAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#byRef.values()) next = Math.min(next, dueAt);
    return next;
  }

  failed(ref: string, error: ProjectionError, now: number): void {
    const { renderRetryMs, renderRetryMsMax } = this.#limits;
    const failures = (this.#byRef.get(ref)?.failures ?? 0) + 1;
    const delayMs = Math.min(renderRetryMs * 2 ** (failures - 1), renderRetryMsMax);
    this.#byRef.set(ref, { error, failures, dueAt: now + delayMs });
  }

  rendered(ref: string): void {
    this.#byRef.delete(ref);
  }
}
