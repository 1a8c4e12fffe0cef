/** Something that takes long. */
export interface Work {
  /** The operation that does it. */
  operation: string;
  /** How much of it is done, and of how much, in events of the log. */
  done: number;
  total: number;
  /** When it began, in milliseconds since 1970. */
  since: number;
}

/** What takes long and how far it is, for those who ask meanwhile. */
export class WorkInProgress {
  readonly #now: () => number;
  readonly #running = new Set<Work>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** In the order in which it was begun. */
  list(): Work[] {
    return [...this.#running].map((work) => ({ ...work }));
  }

  /** Runs a task that reports how far it is. */
  async run<Result>(
    operation: string,
    task: (report: (done: number, total: number) => void) => Promise<Result>,
  ): Promise<Result> {
    const work: Work = { operation, done: 0, total: 0, since: this.#now() };
    this.#running.add(work);
    try {
      return await task((done, total) => Object.assign(work, { done, total }));
    } finally {
      this.#running.delete(work);
    }
  }
}
