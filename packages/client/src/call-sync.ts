/**
 * A call that blocks the thread until it is answered: for the teardown of a host, where the event loop turns
 * no more. A worker thread sends it; it is given to the worker as a text, so that it needs no file, no
 * loader and no bundler to find it.
 */
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { type Endpoint, placeOf } from './endpoint.ts';
import { ClientError, errorOf, notTurnlog, timedOut, unreachable } from './errors.ts';
import { ANSWER_BYTES_MAX } from './http-request.ts';

/** The wait before a daemon that does not answer is tried again. */
const RETRY_DELAY_MS = 50;

/** What the worker says at its end. */
interface Outcome {
  status?: number;
  text?: string;
  failure?: string;
}

const WORKER = `
const { workerData } = require('node:worker_threads');
const { endpoints, path, body, deadline, retryDelayMs, answerBytesMax, done, port } = workerData;
let outcome = { failure: 'was not reached' };
let attempt = 0;

function finish() {
  port.postMessage(outcome);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}

function tryNext() {
  const leftMs = deadline - Date.now();
  // Before the one who waits gives up, so that he learns why.
  if (attempt > 0 && leftMs <= 2 * retryDelayMs) return finish();
  const { address, socketPath, token } = endpoints[attempt % endpoints.length];
  attempt += 1;
  const url = new URL(path, address);
  const isSecure = url.protocol === 'https:' && socketPath === undefined;
  const request = require(isSecure ? 'node:https' : 'node:http').request(url, {
    method: 'POST',
    socketPath,
    headers: {
      authorization: 'Bearer ' + token,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  });
  let isSettled = false;
  const fail = (error) => {
    if (isSettled) return;
    isSettled = true;
    outcome = { failure: String(error.message) };
    setTimeout(tryNext, attempt % endpoints.length === 0 ? retryDelayMs : 0);
  };
  request.on('error', fail);
  request.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk) => {
      text += chunk;
      if (text.length > answerBytesMax) request.destroy(new Error('its answer is too long'));
    });
    response.on('error', fail);
    response.on('end', () => {
      if (isSettled) return;
      isSettled = true;
      outcome = { status: response.statusCode, text };
      finish();
    });
  });
  request.end(body);
}

tryNext();
`;

/**
 * Calls an operation that may be done twice without harm, and blocks until it is answered.
 * @param parameters as JSON
 * @throws ClientError what the daemon answered; `timed_out`, `unreachable`
 */
export function callSync(
  endpoints: readonly Endpoint[],
  name: string,
  parameters: string,
  timeoutMs: number,
): unknown {
  const [endpoint] = endpoints;
  if (endpoint === undefined) throw new ClientError('unreachable', 'no daemon runs');
  const place = placeOf(endpoint);
  const done = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(WORKER, {
    eval: true,
    execArgv: [],
    workerData: {
      endpoints,
      path: `/v1/${name}`,
      body: parameters,
      deadline: Date.now() + timeoutMs,
      retryDelayMs: RETRY_DELAY_MS,
      answerBytesMax: ANSWER_BYTES_MAX,
      done,
      port: port2,
    },
    transferList: [port2],
  });
  try {
    Atomics.wait(done, 0, 0, timeoutMs);
    const { message } = (receiveMessageOnPort(port1) ?? {}) as { message?: Outcome };
    if (message === undefined) throw timedOut(name, timeoutMs);
    if (message.status === undefined) throw unreachable(place, new Error(message.failure));
    return resultOf(message, place);
  } finally {
    port1.close();
    void worker.terminate();
  }
}

function resultOf({ status, text = '' }: Outcome, place: string): unknown {
  let body: { result?: unknown; error?: unknown } | null;
  try {
    body = JSON.parse(text) as typeof body;
  } catch (error) {
    throw notTurnlog(place, error);
  }
  if (status !== 200) throw errorOf(body?.error, place);
  if (body === null || !('result' in body)) throw notTurnlog(place);
  return body.result;
}
