import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Envelope } from '@turnlog/events';

/** An idle connection shows that it lives, before anything between gives it up. */
const HEARTBEAT_MS = 15_000;

/**
 * Writes the log as server-sent events, from `from` on and then as it grows. A subscriber that does not
 * read is waited for: what it has not taken stays in the log and not in memory.
 */
export async function streamEvents(
  response: ServerResponse,
  events: AsyncIterable<Envelope>,
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
      const accepted = response.write(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
      if (!accepted) await once(response, 'drain', { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}
