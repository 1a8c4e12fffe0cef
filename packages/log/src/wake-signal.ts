/** Wakes all who wait, each time it is given. */
export class WakeSignal {
  readonly #sleepers = new Set<() => void>();

  give(): void {
    for (const wake of [...this.#sleepers]) wake();
  }

  /** Resolves when the signal is given, or whoever waits is told to stop. */
  async wait(stop: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        stop?.removeEventListener('abort', wake);
        this.#sleepers.delete(wake);
        resolve();
      };
      stop?.addEventListener('abort', wake);
      this.#sleepers.add(wake);
    });
  }
}
