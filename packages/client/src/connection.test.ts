import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createClient } from './client.ts';
import { Connection } from './connection.ts';
import { codeOf, codeOfRejection } from './testing/code-of.ts';
import { send, withHttpServer, withRpcServer, withTcpServer } from './testing/servers.ts';

const token = 'token';
/** Long enough to go by a request of its own. */
const long = { conversationKey: 'x'.repeat(300_000) };

test('call: many at once, each with its own answer', async () => {
  await withRpcServer(
    ({ id, params }, webSocket) => {
      const answer = () => send(webSocket, { id, result: { seq: params.from } });
      // The first is answered last.
      if (params.from === 0) setTimeout(answer, 20);
      else answer();
    },
    async (address) => {
      const client = createClient({ address, token });
      const answers = await Promise.all([0, 1, 2, 3].map((from) => client.log.read({ from })));
      assert.equal(
        answers.map((answer) => (answer as unknown as { seq: number }).seq),
        [0, 1, 2, 3],
      );
      client.close();
      assert.is(await codeOfRejection(client.daemon.status()), 'invalid_argument');
    },
  );
});

test('call: what the daemon refuses has its code and details', async () => {
  const data = { code: 'event_gap', message: 'events are missing', details: { accepted: 3 } };
  await withRpcServer(
    ({ id }, webSocket) => send(webSocket, { id, error: { code: -32_000, message: 'no', data } }),
    async (address) => {
      const client = createClient({ address, token });
      try {
        await client.bridge.event({ bridgeId: 'b1', events: [] });
        assert.unreachable();
      } catch (error) {
        const { code, details } = error as { code: string; details: unknown };
        assert.equal({ code, details }, { code: 'event_gap', details: { accepted: 3 } });
      }
      client.close();
    },
  );
});

test('call: one that is not answered times out alone, and its late answer is nobody else’s', async () => {
  let first: (() => void) | undefined;
  await withRpcServer(
    ({ id }, webSocket) => {
      if (first === undefined) first = () => send(webSocket, { id, result: 'late' });
      else send(webSocket, { id, result: 'mine' });
      if (id > 2) first();
    },
    async (address) => {
      const client = createClient({ address, token });
      assert.is(await codeOfRejection(client.daemon.status({}, { timeoutMs: 20 })), 'timed_out');
      assert.is((await client.daemon.status()) as unknown, 'mine');
      client.close();
    },
  );
});

test('call: ended by its signal', async () => {
  await withRpcServer(
    () => {},
    async (address) => {
      const client = createClient({ address, token });
      const stopped = new AbortController();
      const call = client.daemon.status({}, { signal: stopped.signal });
      setTimeout(() => stopped.abort(new Error('enough')), 10);
      assert.is(await codeOfRejection(call), 'Error: enough');
      client.close();
    },
  );
});

test('call: a connection that ends fails what is under way, and the next call opens another', async () => {
  let calls = 0;
  await withRpcServer(
    ({ id }, webSocket) => {
      calls += 1;
      if (calls === 1) webSocket.terminate();
      else send(webSocket, { id, result: 'again' });
    },
    async (address) => {
      const client = createClient({ address, token });
      assert.is(await codeOfRejection(client.daemon.status()), 'unreachable');
      assert.is((await client.daemon.status()) as unknown, 'again');
      client.close();
    },
  );
});

test('call: who answers with something else is no daemon', async () => {
  await withRpcServer(
    (_asked, webSocket) => webSocket.send('<html>'),
    async (address) => {
      const client = createClient({ address, token });
      assert.is(await codeOfRejection(client.daemon.status()), 'unreachable');
      client.close();
    },
  );
  await withTcpServer(
    (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
    async (address) => {
      const client = createClient({ address, token });
      assert.is(await codeOfRejection(client.daemon.status()), 'unreachable');
      assert.is(await codeOfRejection(client.conversation.load(long)), 'unreachable');
    },
  );
});

test('long call: goes by itself, and an answer of another shape or one that breaks off is told', async () => {
  const answers = ['{"result":{"messages":[],"seq":7}}', '<html>', '{"error":{"code":"strange"}}', 'null'];
  await withHttpServer(
    (request, response) => {
      assert.is(request.url, '/v1/conversation.load');
      assert.is(request.headers.authorization, 'Bearer token');
      const answer = answers.shift();
      if (answer === undefined) response.writeHead(200, { 'content-length': '100' }).write('{"result":');
      else response.writeHead(answer.includes('error') ? 500 : 200).end(answer);
      if (answer === undefined) setTimeout(() => response.destroy(), 10);
    },
    async (address) => {
      const client = createClient({ address, token });
      assert.is((await client.conversation.load(long)).seq, 7);
      for (let count = 0; count < 4; count += 1) {
        assert.is(await codeOfRejection(client.conversation.load(long)), 'unreachable');
      }
    },
  );
});

test('long call: a daemon that accepts the connection and says nothing times out', async () => {
  await withTcpServer(
    () => {},
    async (address) => {
      const client = createClient({ address, token });
      assert.is(await codeOfRejection(client.conversation.load(long, { timeoutMs: 30 })), 'timed_out');
    },
  );
});

test('ways: the next one is taken where nobody listens on the first', async () => {
  await withRpcServer(
    ({ id }, webSocket) => send(webSocket, { id, result: 'here' }),
    async (address) => {
      const gone = { address, socketPath: '/nowhere/turnlog.sock', token };
      const connection = new Connection(() => [gone, { address, token }], 'test');
      assert.is(await connection.call('daemon.status', '{}', { timeoutMs: 1_000 }), 'here');
      connection.close();
      const nowhere = new Connection(() => [], '/data');
      const error = await nowhere.open().catch((error: Error) => error.message);
      assert.is(error, 'no daemon runs on /data');
    },
  );
});

test('address: must be one of HTTP', () => {
  for (const address of ['', '127.0.0.1:7717', 'ws://127.0.0.1:7717', 'file:///etc']) {
    assert.is(
      codeOf(() => createClient({ address, token })),
      'invalid_argument',
    );
  }
});

test.run();
