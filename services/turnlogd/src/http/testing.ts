import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { type Daemon, openDaemon } from '../daemon.ts';
import { Metrics } from '../metrics.ts';
import { type HttpOptions, type HttpServer, startHttp } from './server.ts';

/** A daemon on a directory of its own, reached by HTTP, for as long as a test takes. */
export interface Bench {
  daemon: Daemon;
  http: HttpServer;
  url: string;
  socketPath: string;
  token: string;
  /** A request as somebody writes it who minds no rules; `socketPath` takes it through the Unix socket. */
  send(path: string, options?: SendOptions): Promise<Answer>;
  /** A WebSocket that is open. */
  dial(options?: { headers?: Record<string, string>; path?: string; overSocket?: boolean }): Promise<Line>;
  /** The same, once it has shown its token. */
  enter(token?: string): Promise<Line>;
}

export interface SendOptions {
  method?: string;
  body?: unknown;
  token?: string | null;
  headers?: Record<string, string>;
  overSocket?: boolean;
}

export interface Answer {
  status: number;
  text: string;
  body: { result?: unknown; error?: { code: string; message: string; details?: Record<string, unknown> } };
}

export async function withBench(
  task: (bench: Bench) => Promise<void>,
  options: Partial<Pick<HttpOptions, 'limits'>> = {},
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'tl-'));
  const lines: Line[] = [];
  try {
    const metrics = new Metrics();
    const daemon = await openDaemon({ dataDirectory: join(directory, 'data'), onCall: metrics.onCall });
    const socketPath = join(directory, 'data', 't.sock');
    const logger = pino({ level: 'silent' });
    const http = await startHttp({
      host: '127.0.0.1',
      port: 0,
      socketPath,
      daemon,
      metrics,
      logger,
      ...options,
    });
    metrics.watch(daemon, http);
    const token = await daemon.directory.token();
    const dial: Bench['dial'] = async ({ headers = {}, path = '/v1/ws', overSocket = false } = {}) => {
      const address = overSocket
        ? `ws+unix:${socketPath}:${path}`
        : `${http.url.replace('http', 'ws')}${path}`;
      const line = new Line(new WebSocket(address, { headers, perMessageDeflate: false }));
      lines.push(line);
      await line.opened;
      return line;
    };
    try {
      await task({
        daemon,
        http,
        url: http.url,
        socketPath,
        token,
        send: (path, sending = {}) => send(http.url, socketPath, token, path, sending),
        dial,
        enter: async (shown = token) => {
          const line = await dial();
          await line.call('auth', { token: shown });
          return line;
        },
      });
    } finally {
      for (const line of lines) line.socket.terminate();
      await http.close();
      await daemon.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export interface Message {
  id?: number;
  method?: string;
  params?: { subscription: number; event?: { seq: number; type: string }; error?: { code: string } };
  result?: unknown;
  error?: { code: number; message: string; data: { code: string; details?: Record<string, unknown> } };
}

/** A WebSocket as a test holds it. */
export class Line {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  readonly opened: Promise<void>;
  /** `<code> <reason>` of its end. */
  readonly closed: Promise<string>;
  #lastId = 0;
  #onMessage: (() => void)[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.opened = new Promise((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve(`${code} ${reason.toString()}`.trim()));
    });
    socket.on('error', () => {});
    socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)) as Message);
      for (const wake of this.#onMessage.splice(0)) wake();
    });
    void this.closed.then(() => {
      for (const wake of this.#onMessage.splice(0)) wake();
    });
  }

  async call(method: string, params: object = {}): Promise<Message> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return await this.until((message) => message.id === id);
  }

  /** The first message that is so, be it here or yet to come. */
  async until(isWanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.messages.find(isWanted);
      if (found !== undefined) return found;
      if (this.socket.readyState >= WebSocket.CLOSING) throw new Error(`closed: ${await this.closed}`);
      await new Promise<void>((resolve) => this.#onMessage.push(resolve));
    }
  }
}

async function send(
  url: string,
  socketPath: string,
  ownToken: string,
  path: string,
  { method = 'POST', body, token = ownToken, headers = {}, overSocket = false }: SendOptions,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return await new Promise<Answer>((resolve, reject) => {
    const sent = request(
      {
        ...(overSocket ? { socketPath } : { hostname, port }),
        path,
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
          const parsed = isJson ? (JSON.parse(text) as Answer['body']) : {};
          resolve({ status: response.statusCode ?? 0, text, body: parsed });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
