import type { Timer } from '../patient-retry.ts';

/** A timer whose time passes only when a test says so. */
export class ManualTimer {
  readonly #tasks = new Set<() => void>();
  /** Every delay that was asked for. */
  readonly delaysMs: number[] = [];

  readonly after: Timer = (delayMs, task) => {
    this.delaysMs.push(delayMs);
    this.#tasks.add(task);
    return () => this.#tasks.delete(task);
  };

  get waiting(): number {
    return this.#tasks.size;
  }

  /** Lets everything that waits happen. */
  fire(): void {
    const due = [...this.#tasks];
    this.#tasks.clear();
    for (const task of due) task();
  }
}
