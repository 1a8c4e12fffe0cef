import { randomUUID } from 'node:crypto';

/** What the daemon would otherwise reach for; passed in, so that any run can be played again. */
export interface Environment {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs the task once after the delay; the answer cancels it. */
  after(delayMs: number, task: () => void): () => void;
  /** An id that nobody else makes. */
  newId(): string;
}

export const systemEnvironment: Environment = {
  now: () => Date.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  newId: () => randomUUID(),
};
