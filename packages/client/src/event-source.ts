import type { IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Connection } from './connection.ts';
import { type Endpoint, placeOf } from './endpoint.ts';
import { errorOf, notTurnlog, timedOut, unreachable } from './errors.ts';
import { readResult, send } from './http-request.ts';

/** The daemon sends something every 15 s; one that is silent for so long is gone. */
const SILENCE_MS_MAX = 45_000;
/** The longest message, in characters. */
const MESSAGE_LENGTH_MAX = 128 * 1024 * 1024;

/**
 * The values of a stream of server-sent events, each read from its JSON, until the connection ends.
 * @throws ClientError what the daemon answered; `unreachable` where the connection breaks off;
 *   `timed_out` where the daemon falls silent
 */
export async function* openEventSource(
  connection: Connection,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<unknown, void> {
  const gone = new AbortController();
  const ends = AbortSignal.any([signal, gone.signal]);
  const fallSilent = () => gone.abort(timedOut(path, SILENCE_MS_MAX));
  let silence = setTimeout(fallSilent, SILENCE_MS_MAX);
  try {
    const { endpoint, response } = await connection.withEndpoint(async (endpoint) => ({
      endpoint,
      response: await send(endpoint, { method: 'GET', path, signal: ends }),
    }));
    if (response.statusCode !== 200) {
      await readResult(response, endpoint, ends);
      throw notTurnlog(placeOf(endpoint));
    }
    if (!/^text\/event-stream\b/.test(response.headers['content-type'] ?? '')) {
      throw notTurnlog(placeOf(endpoint));
    }
    for await (const messages of messagesOf(response, endpoint, ends)) {
      // A slow reader is no silent daemon: only the wait for the next chunk is timed.
      clearTimeout(silence);
      for (const message of messages) yield jsonOf(message, endpoint);
      silence = setTimeout(fallSilent, SILENCE_MS_MAX);
    }
  } finally {
    clearTimeout(silence);
    gone.abort();
  }
}

/** The messages of each chunk. */
async function* messagesOf(
  response: IncomingMessage,
  endpoint: Endpoint,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage[], void> {
  let messages: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    maxBufferSize: MESSAGE_LENGTH_MAX,
  });
  response.setEncoding('utf8');
  const chunks = response[Symbol.asyncIterator]();
  for (;;) {
    let chunk: IteratorResult<string>;
    try {
      chunk = await chunks.next();
    } catch (error) {
      throw signal.aborted ? signal.reason : unreachable(placeOf(endpoint), error);
    }
    if (chunk.done) return;
    parser.feed(chunk.value);
    yield messages;
    messages = [];
  }
}

function jsonOf({ event, data }: EventSourceMessage, endpoint: Endpoint): unknown {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (error) {
    throw notTurnlog(placeOf(endpoint), error);
  }
  if (event === 'error') throw errorOf(value, placeOf(endpoint));
  return value;
}
