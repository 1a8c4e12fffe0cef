import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { TurnlogError } from '@turnlog/events';
import { errorBodyOf } from '../operations/dispatcher.ts';

/** An idle connection shows that it lives, before anything between gives it up. */
const HEARTBEAT_MS = 15_000;

/**
 * Writes events as server-sent events; what has a seq has it as its id. A subscriber that does not read is
 * waited for: what it has not taken stays in the log and not in memory. One that is refused in the middle is
 * told why by a message of the type `error`.
 */
export async function streamEvents(
  response: ServerResponse,
  events: AsyncIterable<{ seq?: number }>,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  response.write(': turnlog\n\n');
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(':\n\n');
  }, HEARTBEAT_MS);
  try {
    for await (const event of events) {
      const id = event.seq === undefined ? '' : `id: ${event.seq}\n`;
      const accepted = response.write(`${id}data: ${JSON.stringify(event)}\n\n`);
      if (!accepted) await once(response, 'drain', { signal });
    }
  } catch (error) {
    if (signal.aborted) return;
    response.write(`event: error\ndata: ${JSON.stringify(errorBodyOf(error))}\n\n`);
    if (!(error instanceof TurnlogError)) throw error;
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}
