/** So many things may be under way at once; who has one more waits. */
export class Slots {
  readonly #max: number;
  #taken = 0;
  #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  get isFree(): boolean {
    return this.#taken < this.#max;
  }

  take(): void {
    this.#taken += 1;
  }

  release(): void {
    this.#taken -= 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when one is free. */
  async free(): Promise<void> {
    while (!this.isFree) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
