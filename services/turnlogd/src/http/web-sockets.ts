import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERROR_CODES, TurnlogError } from '@turnlog/events';
import { type WebSocket, WebSocketServer } from 'ws';
import { DaemonError } from '../errors.ts';
import { errorBodyOf } from '../operations/dispatcher.ts';
import { RpcConnection } from '../rpc/rpc-connection.ts';
import type { Channel, RpcParts } from '../rpc/rpc-parts.ts';

export interface WebSocketLimits {
  connectionsMax: number;
  /** Connections that have not shown a token yet. */
  strangersMax: number;
  /** What a peer may send before it has shown a token. */
  strangerBytesMax: number;
  frameBytesMax: number;
  /** How often a peer is asked whether it is there; one that does not answer until the next time is not. */
  pingIntervalMs: number;
}

export const WEB_SOCKET_LIMITS: WebSocketLimits = {
  connectionsMax: 256,
  strangersMax: 32,
  strangerBytesMax: 16 * 1024,
  frameBytesMax: 64 * 1024 * 1024,
  pingIntervalMs: 30_000,
};

export const WEB_SOCKET_PATH = '/v1/ws';

export interface WebSocketsOptions extends Omit<RpcParts, 'channel'> {
  webSocketLimits: WebSocketLimits;
  /** @throws DaemonError where the request may not be served: it comes from a foreign page */
  checkOrigin(request: IncomingMessage): void;
}

/** The WebSocket connections of all servers of the daemon. */
export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #server: WebSocketServer;
  readonly #connections = new Map<WebSocket, RpcConnection>();
  /** Those that have answered since they were asked. */
  readonly #alive = new WeakSet<WebSocket>();
  readonly #pings: NodeJS.Timeout;
  #isClosing = false;

  constructor(options: WebSocketsOptions) {
    const { frameBytesMax, pingIntervalMs } = options.webSocketLimits;
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: frameBytesMax,
    });
    this.#pings = setInterval(() => this.#pingAll(), pingIntervalMs).unref();
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Takes a request that asks to go on as something else than HTTP. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const ignore = () => {};
    socket.on('error', ignore);
    try {
      this.#check(request);
    } catch (error) {
      refuse(socket, error);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      socket.off('error', ignore);
      this.#connected(webSocket, socket);
    });
  }

  /** Answers what is under way on each connection and ends it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#pings);
    const closed = [...this.#connections].map(async ([webSocket, connection]) => {
      const gone = new Promise<void>((resolve) => webSocket.once('close', () => resolve()));
      await connection.finish();
      await gone;
    });
    await Promise.all(closed);
  }

  #check(request: IncomingMessage): void {
    this.#options.checkOrigin(request);
    if (request.url?.split('?')[0] !== WEB_SOCKET_PATH) {
      throw new DaemonError('operation_not_found', `a WebSocket is opened at ${WEB_SOCKET_PATH}`);
    }
    if (this.#isClosing) throw new DaemonError('store_closed', 'the daemon is stopping');
    const { connectionsMax, strangersMax } = this.#options.webSocketLimits;
    const strangers = [...this.#connections.values()].filter(
      ({ isAuthenticated }) => !isAuthenticated,
    ).length;
    if (this.#connections.size >= connectionsMax || strangers >= strangersMax) {
      throw new DaemonError('overloaded', `at most ${connectionsMax} connections at once`);
    }
  }

  #connected(webSocket: WebSocket, socket: Duplex): void {
    const { strangerBytesMax } = this.#options.webSocketLimits;
    const connection = new RpcConnection({ ...this.#options, channel: channelOf(webSocket, socket) });
    this.#connections.set(webSocket, connection);
    this.#alive.add(webSocket);

    // A frame is looked at when it is whole. Who has not shown a token may not make a large one.
    let strangerBytes = 0;
    const count = (chunk: Buffer) => {
      strangerBytes += chunk.length;
      if (connection.isAuthenticated) socket.off('data', count);
      else if (strangerBytes > strangerBytesMax) webSocket.terminate();
    };
    socket.on('data', count);

    webSocket.on('message', (data, isBinary) => {
      if (isBinary) connection.close(CLOSE_UNSUPPORTED, 'frames are text');
      else connection.receive(String(data));
    });
    webSocket.on('pong', () => this.#alive.add(webSocket));
    // What is wrong with a frame (too large, not masked, no UTF-8) closes the connection with its own code.
    webSocket.on('error', () => connection.closed());
    webSocket.on('close', () => {
      connection.closed();
      this.#connections.delete(webSocket);
    });
  }

  #pingAll(): void {
    for (const webSocket of this.#connections.keys()) {
      // Of one that is not read from at the moment, no answer can come.
      if (webSocket.isPaused) continue;
      if (this.#alive.has(webSocket)) {
        this.#alive.delete(webSocket);
        webSocket.ping();
      } else {
        webSocket.terminate();
      }
    }
  }
}

const CLOSE_UNSUPPORTED = 1003;

/** What is sent in one turn of the event loop leaves in one write. */
function channelOf(webSocket: WebSocket, socket: Duplex): Channel {
  let isCorked = false;
  return {
    send(frame, sent) {
      if (!isCorked) {
        isCorked = true;
        socket.cork();
        setImmediate(() => {
          isCorked = false;
          socket.uncork();
        });
      }
      webSocket.send(frame, { binary: false }, () => sent());
    },
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
    close: (code, reason) => webSocket.close(code, reason),
    terminate: () => webSocket.terminate(),
  };
}

/** Answers with an error as HTTP would have, and ends the connection. */
function refuse(socket: Duplex, error: unknown): void {
  const body = errorBodyOf(error instanceof TurnlogError ? error : undefined);
  const text = JSON.stringify({ error: body });
  socket.end(
    [
      `HTTP/1.1 ${ERROR_CODES[body.code].httpStatus} Refused`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(text)}`,
      '',
      text,
    ].join('\r\n'),
  );
  socket.once('finish', () => socket.destroy());
}
