import type { ServerResponse } from 'node:http';
import { TurnlogError } from '@turnlog/events';
import type { Environment } from '../environment.ts';
import { errorBodyOf } from '../operations/dispatcher.ts';
import { tooSlow } from '../operations/refusals.ts';

export interface EventStreamLimits {
  /** An idle connection shows that it lives, before anything between gives it up. */
  heartbeatMs: number;
  /** How long a subscriber may read nothing while there is something for it. */
  stallTimeoutMs: number;
  /** How long one that was given up may take to read why. */
  closeTimeoutMs: number;
}

export const EVENT_STREAM_LIMITS: EventStreamLimits = {
  heartbeatMs: 15_000,
  stallTimeoutMs: 30_000,
  closeTimeoutMs: 5_000,
};

/**
 * Writes events as server-sent events; what has a seq has it as its id. A subscriber that does not read is
 * waited for: what it has not taken stays in the log and not in memory. One that takes nothing for long is
 * given up. Who is refused in the middle is told why by a message of the type `error`.
 */
export async function streamEvents(
  response: ServerResponse,
  events: AsyncIterable<{ seq?: number }>,
  signal: AbortSignal,
  after: Environment['after'],
  limits: EventStreamLimits,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.write(': turnlog\n\n');
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(':\n\n');
  }, limits.heartbeatMs);
  try {
    for await (const event of events) {
      const id = event.seq === undefined ? '' : `id: ${event.seq}\n`;
      const isRoom = response.write(`${id}data: ${JSON.stringify(event)}\n\n`);
      if (!isRoom) await drained(response, signal, after, limits.stallTimeoutMs);
      if (signal.aborted) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    response.write(`event: error\ndata: ${JSON.stringify(errorBodyOf(error))}\n\n`);
    if (!(error instanceof TurnlogError)) throw error;
  } finally {
    clearInterval(heartbeat);
    response.end();
    const cancel = after(limits.closeTimeoutMs, () => response.destroy());
    response.once('close', cancel);
  }
}

/**
 * Resolves when the subscriber has read what was written, or with the signal.
 * @throws DaemonError `too_slow`
 */
async function drained(
  response: ServerResponse,
  signal: AbortSignal,
  after: Environment['after'],
  stallTimeoutMs: number,
): Promise<void> {
  let cleanUp = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const settle = () => resolve();
      const cancel = after(stallTimeoutMs, () => reject(tooSlow()));
      response.once('drain', settle);
      signal.addEventListener('abort', settle);
      cleanUp = () => {
        cancel();
        response.off('drain', settle);
        signal.removeEventListener('abort', settle);
      };
      if (signal.aborted) resolve();
    });
  } finally {
    cleanUp();
  }
}
