import cliProgress from 'cli-progress';
import { safeLine } from './safe-text.ts';

/** Where progress is shown; `process.stderr` is one. */
export type ProgressOutput = NodeJS.WritableStream & { isTTY?: boolean };

export interface Progress {
  /** Says how much is done by now, and what is being done where that changes. */
  update(done: number, doing?: string): void;
  /** Takes the bar away. */
  stop(): void;
  [Symbol.dispose](): void;
}

/**
 * A progress bar on a terminal, nothing at all elsewhere. It is taken away at the end, so that what the
 * command has to say stands alone; `using progress = …` sees to it on failure too.
 * @param total how much there is to do, in the unit that `update` counts in
 */
export function startProgress(output: ProgressOutput, doing: string, total: number): Progress {
  if (output.isTTY !== true) return silent;
  const bar = new cliProgress.SingleBar({
    stream: output,
    format: '{doing}  [{bar}]  {value} of {total}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    clearOnComplete: true,
    hideCursor: true,
    gracefulExit: false,
    linewrap: null,
  });
  bar.start(total, 0, { doing: safeLine(doing) });
  const stop = () => {
    if (bar.isActive) bar.stop();
  };
  return {
    update: (done, next) => bar.update(done, next === undefined ? {} : { doing: safeLine(next) }),
    stop,
    [Symbol.dispose]: stop,
  };
}

const silent: Progress = { update() {}, stop() {}, [Symbol.dispose]() {} };
