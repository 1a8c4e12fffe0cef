import type { Envelope, OperationName, OperationParameters, OperationResult } from '@turnlog/events';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ClientError, errorOf } from './errors.ts';

export interface Client {
  readonly address: string;
  call<Name extends OperationName>(
    name: Name,
    parameters: OperationParameters<Name>,
  ): Promise<OperationResult<Name>>;
  /** The log from a seq on, and then as it grows, until the signal or the end of the connection. */
  follow(from: number, signal: AbortSignal): AsyncIterable<Envelope>;
}

/** A client of the daemon at an address, such as `http://127.0.0.1:7717`. */
export function createClient(options: { address: string; token: string }): Client {
  const { address, token } = options;
  const authorization = `Bearer ${token}`;
  return {
    address,
    async call(name, parameters) {
      const response = await request(`${address}/v1/${name}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(parameters),
      });
      const body: unknown = await response.json().catch(() => undefined);
      if (!response.ok) throw errorOf(body, response.status);
      return (body as { result: OperationResult<typeof name> }).result;
    },
    async *follow(from, signal) {
      const response = await request(`${address}/v1/events?from=${from}`, {
        headers: { authorization },
        signal,
      });
      if (!response.ok || response.body === null) {
        throw errorOf(await response.json().catch(() => undefined), response.status);
      }
      const messages = response.body
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      let expected = from;
      try {
        for await (const message of messages) {
          const event = JSON.parse(message.data) as Envelope;
          if (event.seq !== expected) {
            throw new ClientError('internal', `expected event ${expected} of the log and got ${event.seq}`);
          }
          expected += 1;
          yield event;
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ClientError('store_closed', `no daemon answers at ${new URL(url).origin}`, undefined, {
      cause: error,
    });
  }
}
