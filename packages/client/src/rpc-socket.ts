/**
 * JSON-RPC 2.0 over one WebSocket: many calls at once, in the order in which they were made, at a fifth of
 * what an HTTP request costs. When the connection ends, every call under way fails as `unreachable`: what
 * it came to is then unknown. A socket that waits for nothing does not keep the process alive.
 */
import { connect, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { WebSocket } from 'ws';
import { type Endpoint, placeOf } from './endpoint.ts';
import { ClientError, errorOf, notTurnlog, timedOut, unreachable } from './errors.ts';
import { ANSWER_BYTES_MAX, type Deferred, deferred, readResult } from './http-request.ts';

/** The most calls under way on one socket. */
export const CALLS_MAX = 4_096;
const OPEN_TIMEOUT_MS = 10_000;
/** A connection whose other end went without a word is given up after two of these. */
const PING_INTERVAL_MS = 15_000;

interface Waiting extends Deferred<unknown> {
  timer: NodeJS.Timeout;
}

export class RpcSocket {
  readonly #place: string;
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #pings: NodeJS.Timeout;
  #lastId = 0;
  #isCorked = false;
  #isHeard = true;
  #ended: ClientError | undefined;

  /**
   * Connects and authenticates.
   * @throws ClientError `unreachable`, `timed_out`, or what the daemon answered
   */
  static async open(endpoint: Endpoint): Promise<RpcSocket> {
    const socket = dial(endpoint);
    const rpc = new RpcSocket(endpoint, socket, await upgraded(endpoint, socket));
    try {
      await rpc.call('auth', JSON.stringify({ token: endpoint.token }), { timeoutMs: OPEN_TIMEOUT_MS });
      return rpc;
    } catch (error) {
      rpc.close();
      throw error;
    }
  }

  private constructor(endpoint: Endpoint, socket: Socket, webSocket: WebSocket) {
    this.#place = placeOf(endpoint);
    this.#socket = socket;
    this.#webSocket = webSocket;
    webSocket.on('message', (data) => this.#receive(String(data)));
    webSocket.on('pong', () => {
      this.#isHeard = true;
    });
    webSocket.on('error', (error) => this.#end(unreachable(this.#place, error)));
    webSocket.on('close', () => this.#end(unreachable(this.#place)));
    this.#pings = setInterval(() => this.#ping(), PING_INTERVAL_MS).unref();
    socket.unref();
  }

  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  /**
   * Calls an operation.
   * @param parameters its parameters as JSON
   * @throws ClientError what the daemon answered; `unreachable`, `timed_out`, `too_large`
   */
  call(
    method: string,
    parameters: string,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#waiting.size >= CALLS_MAX) {
      return Promise.reject(new ClientError('too_large', `at most ${CALLS_MAX} calls at once`));
    }
    const id = ++this.#lastId;
    const call = deferred<unknown>();
    const timer = setTimeout(() => this.#settle(id)?.reject(timedOut(method, timeoutMs)), timeoutMs);
    this.#waiting.set(id, { ...call, timer });
    if (this.#waiting.size === 1) this.#socket.ref();
    this.#write(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${parameters}}`);
    if (signal === undefined) return call.promise;
    const abort = () => this.#settle(id)?.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    return call.promise.finally(() => signal.removeEventListener('abort', abort));
  }

  close(): void {
    this.#end(unreachable(this.#place));
  }

  /** What is sent in one turn of the event loop leaves in one write. */
  #write(text: string): void {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      setImmediate(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#webSocket.send(text);
  }

  #receive(text: string): void {
    this.#isHeard = true;
    const answer = parsed(text);
    if (answer === undefined) {
      this.#end(notTurnlog(this.#place));
      return;
    }
    // A call that has timed out may still be answered, and nobody waits for it.
    const call = typeof answer.id === 'number' ? this.#settle(answer.id) : undefined;
    if (call === undefined) return;
    if ('result' in answer) call.resolve(answer.result);
    else call.reject(errorOf(answer.error?.data, this.#place));
  }

  #settle(id: number): Waiting | undefined {
    const call = this.#waiting.get(id);
    if (call === undefined) return undefined;
    clearTimeout(call.timer);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#socket.unref();
    return call;
  }

  #ping(): void {
    if (!this.#isHeard) this.#end(unreachable(this.#place));
    else {
      this.#isHeard = false;
      this.#webSocket.ping();
    }
  }

  #end(error: ClientError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    clearInterval(this.#pings);
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(error);
    this.#webSocket.terminate();
  }
}

interface Answer {
  id?: unknown;
  result?: unknown;
  error?: { data?: unknown };
}

function parsed(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function dial({ address, socketPath }: Endpoint): Socket {
  if (socketPath !== undefined) return connect(socketPath);
  const { protocol, hostname, port } = new URL(address);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return protocol === 'https:'
    ? connectSecure({ host, port: Number(port || 443), servername: host })
    : connect({ host, port: Number(port || 80) });
}

async function upgraded(endpoint: Endpoint, socket: Socket): Promise<WebSocket> {
  const url = new URL('/v1/ws', endpoint.address);
  url.protocol = 'ws:';
  const webSocket = new WebSocket(url, {
    // The connection is made, and secured where it must be; here is only what is said on it.
    createConnection: () => socket,
    headers: { authorization: `Bearer ${endpoint.token}` },
    perMessageDeflate: false,
    maxPayload: ANSWER_BYTES_MAX,
    handshakeTimeout: OPEN_TIMEOUT_MS,
  });
  const { promise, resolve, reject } = deferred<WebSocket>();
  webSocket.once('open', () => resolve(webSocket));
  webSocket.once('error', (error) => reject(unreachable(placeOf(endpoint), error)));
  webSocket.once('unexpected-response', (_request, response) => {
    readResult(response, endpoint, AbortSignal.timeout(OPEN_TIMEOUT_MS))
      .then(() => reject(notTurnlog(placeOf(endpoint))), reject)
      .finally(() => socket.destroy());
  });
  return await promise;
}
