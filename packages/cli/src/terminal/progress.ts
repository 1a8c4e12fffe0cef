import cliProgress from 'cli-progress';
import { safeLine } from './safe-text.ts';

/** Where progress is shown; `process.stderr` is one. */
export type ProgressOutput = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

const BAR_WIDTH_MAX = 24;
/** Where a terminal does not say how wide it is; some say 0. */
const COLUMNS_UNKNOWN = 80;
/** What stands beside the bar: a bar that wraps would leave a trail of lines. */
const BESIDE_BAR = 44;

export interface Progress {
  /** Says how much is done by now, and what is being done and how much there is where that changes. */
  update(done: number, doing?: string, total?: number): void;
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
    barsize: Math.max(0, Math.min(BAR_WIDTH_MAX, (output.columns || COLUMNS_UNKNOWN) - BESIDE_BAR)),
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
    update(done, next, newTotal) {
      if (newTotal !== undefined) bar.setTotal(newTotal);
      bar.update(done, next === undefined ? {} : { doing: safeLine(next) });
    },
    stop,
    [Symbol.dispose]: stop,
  };
}

const silent: Progress = { update() {}, stop() {}, [Symbol.dispose]() {} };
