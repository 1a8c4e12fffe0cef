import { once } from 'node:events';
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Runs a task with an HTTP server that is gone afterwards; told its address. */
export async function withHttpServer<Result>(
  listener: RequestListener,
  task: (address: string, server: HttpServer) => Promise<Result>,
): Promise<Result> {
  const server = createServer(listener);
  return await withServer(server, (port) => task(`http://127.0.0.1:${port}`, server));
}

/** The same for a server of bare connections. */
export async function withTcpServer<Result>(
  onConnection: (socket: Socket) => void,
  task: (address: string) => Promise<Result>,
): Promise<Result> {
  return await withServer(createTcpServer(onConnection), (port) => task(`http://127.0.0.1:${port}`));
}

/** What a fake daemon is asked on a WebSocket. */
export interface Asked {
  id: number;
  method: string;
  params: Record<string, unknown>;
}

/**
 * A daemon on a WebSocket that answers with what `answer` sends. The authentication is answered by itself.
 */
export async function withRpcServer<Result>(
  answer: (asked: Asked, webSocket: WebSocket) => void,
  task: (address: string) => Promise<Result>,
): Promise<Result> {
  const listener: RequestListener = (_request, response) => response.writeHead(500).end();
  return await withHttpServer(listener, async (address, server) => {
    const rpc = new WebSocketServer({ server });
    rpc.on('connection', (webSocket) => {
      webSocket.on('message', (data) => {
        const asked = JSON.parse(String(data)) as Asked;
        if (asked.method === 'auth') send(webSocket, { id: asked.id, result: {} });
        else answer(asked, webSocket);
      });
    });
    try {
      return await task(address);
    } finally {
      for (const webSocket of rpc.clients) webSocket.terminate();
      rpc.close();
    }
  });
}

export function send(webSocket: WebSocket, message: object): void {
  webSocket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

async function withServer<Result>(server: Server, task: (port: number) => Promise<Result>): Promise<Result> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await task((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }
}
