import type { Endpoint, Locate } from './endpoint.ts';
import { ClientError, isPassing, timedOut } from './errors.ts';
import { readResult, send } from './http-request.ts';
import { RpcSocket } from './rpc-socket.ts';

/** What is longer goes by a request of its own, so that nothing has to wait behind it; in characters. */
const SOCKET_CALL_LENGTH_MAX = 256 * 1024;

export interface CallOptions {
  /** How long the answer may take. */
  timeoutMs?: number;
  /** Ends the wait; what the call came to is then unknown. */
  signal?: AbortSignal;
}

interface CallLimits {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** The way to a daemon, found anew and opened again whenever it was lost. */
export class Connection {
  /** Where the daemon is, for people. */
  address: string;
  readonly locate: Locate;
  #opening: Promise<RpcSocket> | undefined;
  #socket: RpcSocket | undefined;
  #isClosed = false;

  /** @param name what is connected to, as long as no daemon is found */
  constructor(locate: Locate, name: string) {
    this.locate = locate;
    this.address = name;
  }

  /** Makes sure that a daemon answers. @throws ClientError where none does */
  async open(): Promise<void> {
    await this.#open();
  }

  /**
   * @param parameters as JSON
   * @throws ClientError what the daemon answered, or what kept it from answering
   */
  async call(name: string, parameters: string, limits: CallLimits): Promise<unknown> {
    if (parameters.length > SOCKET_CALL_LENGTH_MAX) return await this.#callAlone(name, parameters, limits);
    const socket = this.#socket?.isOpen ? this.#socket : await this.#open();
    return await socket.call(name, parameters, limits);
  }

  /** Runs a task with the first way to the daemon on which somebody listens. */
  async withEndpoint<Result>(task: (endpoint: Endpoint) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw isClosed();
    let failure: unknown = new ClientError('unreachable', `no daemon runs on ${this.address}`);
    for (const endpoint of this.locate()) {
      this.address = endpoint.address;
      try {
        return await task(endpoint);
      } catch (error) {
        if (!isRefused(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close();
    this.#socket = undefined;
  }

  async #open(): Promise<RpcSocket> {
    this.#opening ??= this.withEndpoint((endpoint) => RpcSocket.open(endpoint)).finally(() => {
      this.#opening = undefined;
    });
    const socket = await this.#opening;
    if (this.#isClosed) {
      socket.close();
      throw isClosed();
    }
    this.#socket = socket;
    return socket;
  }

  async #callAlone(name: string, body: string, { timeoutMs, signal }: CallLimits): Promise<unknown> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(timedOut(name, timeoutMs)), timeoutMs);
    const ends = signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal]);
    try {
      return await this.withEndpoint(async (endpoint) => {
        const response = await send(endpoint, { method: 'POST', path: `/v1/${name}`, body, signal: ends });
        return await readResult(response, endpoint, ends);
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Nothing that passes: whoever tries again and again gives up. */
function isClosed(): ClientError {
  return new ClientError('invalid_argument', 'this client is closed');
}

/** Whether nobody listens there, so that nothing has reached anybody. */
function isRefused(error: unknown): boolean {
  if (!isPassing(error)) return false;
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'EACCES';
}
