/** One task at a time for each key, in the order of their arrival; different keys side by side. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs the task when every earlier task of the key is over, also where one of them failed. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key);
    const mine = before === undefined ? task() : before.then(task, task);
    this.#tails.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key);
    }
  }

  /** The same with several keys held at once; taken in one order by everybody, so that nobody waits in a circle. */
  async runAll<Result>(keys: readonly string[], task: () => Promise<Result>): Promise<Result> {
    const [first, ...others] = [...new Set(keys)].sort();
    return first === undefined ? await task() : await this.run(first, () => this.runAll(others, task));
  }

  /** Settles when every task that was given so far is over. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#tails.values()]);
  }
}
