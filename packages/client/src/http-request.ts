import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { type Endpoint, placeOf } from './endpoint.ts';
import { ClientError, errorOf, notTurnlog, unreachable } from './errors.ts';

/** The longest answer that is read, in bytes. */
export const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

export interface HttpRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
  headers?: Record<string, string>;
  /** Ends the request, also while its answer is read. */
  signal: AbortSignal;
}

const keepAlive = { keepAlive: true, maxSockets: 64 };
const agent = new Agent(keepAlive);
const secureAgent = new SecureAgent(keepAlive);

/**
 * Sends a request; answers as soon as the head of the answer is here.
 * @throws ClientError `unreachable`; the reason of the signal where that ended it
 */
export function send(endpoint: Endpoint, request: HttpRequest): Promise<IncomingMessage> {
  const { address, socketPath, token } = endpoint;
  const { method, path, body, signal } = request;
  const url = new URL(path, address);
  const isSecure = url.protocol === 'https:' && socketPath === undefined;
  const { promise, resolve, reject } = deferred<IncomingMessage>();
  const outgoing = (isSecure ? requestHttps : requestHttp)(url, {
    method,
    agent: isSecure ? secureAgent : agent,
    ...(socketPath !== undefined && { socketPath }),
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }),
      ...request.headers,
    },
  });
  // Not as an option of the request: the signal would be tied to the connection too, which outlives it.
  const abort = () => outgoing.destroy();
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  const letGo = () => signal.removeEventListener('abort', abort);
  outgoing.on('close', letGo);
  outgoing.on('response', (response) => {
    // From here on the connection belongs to the next request.
    response.on('end', letGo);
    resolve(response);
  });
  outgoing.on('error', (error) =>
    reject(signal.aborted ? signal.reason : unreachable(placeOf(endpoint), error)),
  );
  outgoing.end(body);
  return promise;
}

/**
 * Reads an answer of an operation to its end.
 * @throws ClientError what the daemon answered; `unreachable` where the answer breaks off or is none of turnlog's
 */
export async function readResult(
  response: IncomingMessage,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<unknown> {
  const place = placeOf(endpoint);
  const body = await readJson(response, place, signal);
  if (response.statusCode !== 200) throw errorOf((body as { error?: unknown } | null)?.error, place);
  if (typeof body !== 'object' || body === null || !('result' in body)) throw notTurnlog(place);
  return body.result;
}

async function readJson(response: IncomingMessage, place: string, signal: AbortSignal): Promise<unknown> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      text += chunk as string;
      if (text.length > ANSWER_BYTES_MAX) {
        throw new ClientError('too_large', `the answer is over the limit of ${ANSWER_BYTES_MAX} bytes`);
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof ClientError) throw error;
    throw unreachable(place, error);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notTurnlog(place, error);
  }
}

export interface Deferred<Value> {
  promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

export function deferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
