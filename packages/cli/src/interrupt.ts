/** Somebody asked the command to stop before it was done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(
    signal: string,
    /** 128 and the number of the signal, as a shell tells it. */
    readonly exitCode: number,
  ) {
    super(`interrupted by ${signal}`);
  }
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Runs a task that ends in order when the user presses Ctrl-C: the signal says so, and what the task throws
 * then is `Interrupted`. Pressed again, the process ends at once.
 */
export async function interruptible<Result>(task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const stops = Object.entries(SIGNALS).map(([name, exitCode]) => {
    const stop = () => {
      release();
      controller.abort(new Interrupted(name, exitCode));
    };
    process.once(name, stop);
    return () => process.removeListener(name, stop);
  });
  const release = () => {
    for (const remove of stops) remove();
  };
  try {
    return await task(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    release();
  }
}

/** What the promise gives, unless the signal comes first; then its reason is thrown. */
export async function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  // Where nobody waits for it any more its failure is nobody's.
  promise.catch(() => {});
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
