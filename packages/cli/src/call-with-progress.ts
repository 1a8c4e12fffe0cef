import { setTimeout as delay } from 'node:timers/promises';
import type { OperationName, OperationParameters, OperationResult } from '@turnlog/events';
import type { Context } from './context.ts';
import { interruptible, unlessAborted } from './interrupt.ts';
import type { Target } from './target.ts';
import { type Progress, startProgress } from './terminal/progress.ts';

/** How often it is asked how far it is. */
const POLL_MS = 200;

/**
 * Calls an operation that takes long, and shows on a terminal how far it is. After Ctrl-C nobody waits for
 * it any more: a daemon carries it to its end, without one it is broken off.
 * @throws Interrupted
 */
export async function callWithProgress<Name extends OperationName>(
  context: Context,
  target: Target,
  name: Name,
  parameters: OperationParameters<Name>,
): Promise<OperationResult<Name>> {
  return await interruptible(async (signal) => {
    const ended = new AbortController();
    const shown = context.stderr.isTTY ? show(context, target, name, ended.signal) : undefined;
    try {
      return await unlessAborted(target.call(name, parameters), signal);
    } finally {
      ended.abort();
      await shown;
    }
  });
}

async function show(
  { stderr }: Context,
  { call }: Target,
  name: OperationName,
  ended: AbortSignal,
): Promise<void> {
  let progress: Progress | undefined;
  try {
    while (await stillRuns(ended)) {
      // How far it is may be unknown; that it failed is told by the call itself.
      const status = await call('daemon.status', {}).catch(() => undefined);
      const work = status?.work.findLast(({ operation }) => operation === name);
      if (work === undefined || work.total === 0 || ended.aborted) continue;
      progress ??= startProgress(stderr, 'events', work.total);
      progress.update(work.done, 'events', work.total);
    }
  } finally {
    progress?.stop();
  }
}

async function stillRuns(ended: AbortSignal): Promise<boolean> {
  try {
    await delay(POLL_MS, undefined, { signal: ended });
    return true;
  } catch {
    return false;
  }
}
