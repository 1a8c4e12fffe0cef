import { connect } from 'node:net';
import type { Envelope, LiveEvent } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RPC_LIMITS } from '../rpc/rpc-parts.ts';
import { type Bench, type Line, withBench } from './testing.ts';
import { WEB_SOCKET_LIMITS } from './web-sockets.ts';

const record = { bridgeId: 'b1', provider: 'codex', conversationKey: 'thread:s' };

async function refusalOf(dialing: Promise<Line>): Promise<string> {
  return await dialing.then(
    () => 'opened',
    (error: Error) => error.message,
  );
}

async function clear(bench: Bench, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await bench.daemon.dispatcher.call('conversation.clear', { conversationKey: `thread:${index}` });
  }
}

test('upgrade: a foreign page, a foreign name and another path are refused before anything is opened', async () => {
  await withBench(async ({ dial, url }) => {
    const refusals: [Parameters<typeof dial>[0], number][] = [
      [{ headers: { origin: 'http://evil.example' } }, 403],
      [{ headers: { origin: 'null' } }, 403],
      [{ headers: { host: 'evil.example:7717' } }, 403],
      [{ path: '/v1/other' }, 404],
      [{ path: '/' }, 404],
    ];
    for (const [options, status] of refusals) {
      assert.match(await refusalOf(dial(options)), String(status), JSON.stringify(options));
    }
    await dial({ headers: { origin: url } });
    await dial({ path: '/v1/ws?x=1' });
  });
});

test('upgrade: over the Unix socket Host and Origin say nothing, and the token is asked all the same', async () => {
  await withBench(async ({ dial, send, token }) => {
    const line = await dial({ overSocket: true, headers: { host: 'anything' } });
    assert.is((await line.call('daemon.status')).error?.data.code, 'unauthorized');
    assert.is(await line.closed, '1008 unauthorized');
    const other = await dial({ overSocket: true });
    assert.equal((await other.call('auth', { token })).result, { scope: 'local' });
    const status = { body: {}, overSocket: true, headers: { host: 'anything' } };
    assert.is((await send('/v1/daemon.status', status)).status, 200);
    assert.is((await send('/v1/daemon.status', { ...status, token: null })).status, 401);
  });
});

test('auth: a token in the header opens nothing, the first frame does', async () => {
  await withBench(async ({ dial, token }) => {
    const line = await dial({ headers: { authorization: `Bearer ${token}` } });
    assert.is((await line.call('daemon.status')).error?.data.code, 'unauthorized');
    assert.is(await line.closed, '1008 unauthorized');
  });
});

test('auth: a peer that says nothing is let go in time', async () => {
  await withBench(
    async ({ dial }) => {
      assert.is(await (await dial()).closed, '1008 unauthorized');
    },
    { limits: { rpc: { ...RPC_LIMITS, authTimeoutMs: 50 } } },
  );
});

test('auth: strangers may not send much and may not be many', async () => {
  await withBench(
    async ({ dial, enter, http }) => {
      const loud = await dial();
      // A frame that would be allowed to anybody else, and that never becomes whole.
      loud.socket.send('x'.repeat(WEB_SOCKET_LIMITS.strangerBytesMax * 20));
      assert.is(await loud.closed, '1006');
      await dial();
      assert.match(await refusalOf(dial()), '503');
      assert.is(http.webSockets(), 1);
      assert.match(await refusalOf(enter()), '503');
    },
    { limits: { webSockets: { ...WEB_SOCKET_LIMITS, strangersMax: 1 } } },
  );
});

test('auth: a large first request behind the token is no stranger any more', async () => {
  await withBench(async ({ dial, token }) => {
    const line = await dial();
    const messages = Array.from({ length: 3 }, (_, index) => ({ id: index, text: 'x'.repeat(200_000) }));
    const [auth, saved] = await Promise.all([
      line.call('auth', { token }),
      line.call('transcripts.save', { scopeId: 's', messages }),
    ]);
    assert.equal(auth.result, { scope: 'local' });
    assert.is((saved.result as { changed: boolean }).changed, true);
  });
});

test('limits: so many connections and no more', async () => {
  await withBench(
    async ({ enter, http }) => {
      await enter();
      const second = await enter();
      assert.match(await refusalOf(enter()), '503');
      second.socket.close();
      await second.closed;
      while (http.webSockets() > 1) await new Promise((resolve) => setTimeout(resolve, 5));
      await enter();
    },
    { limits: { webSockets: { ...WEB_SOCKET_LIMITS, connectionsMax: 2 } } },
  );
});

test('limits: a frame that is too large ends its connection, and no other', async () => {
  await withBench(
    async ({ enter }) => {
      const [large, other] = [await enter(), await enter()];
      large.socket.send('x'.repeat(2_000));
      assert.is(await large.closed, '1009');
      assert.ok((await other.call('daemon.status')).result);
    },
    { limits: { webSockets: { ...WEB_SOCKET_LIMITS, frameBytesMax: 1_000 } } },
  );
});

test('frames: binary ones, and what is no text, end the connection', async () => {
  await withBench(async ({ enter }) => {
    const binary = await enter();
    binary.socket.send(Buffer.from('{}'));
    assert.match(await binary.closed, '1003');
    const broken = await enter();
    broken.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    assert.match(await broken.closed, '1007');
  });
});

test('requests: every operation, answered like over HTTP', async () => {
  await withBench(async ({ enter, send }) => {
    const line = await enter();
    assert.is(((await line.call('bridge.record', record)).result as { attached: boolean }).attached, false);
    for (const [method, params] of [
      ['conversation.load', { conversationKey: 'none' }],
      ['bridge.event', { bridgeId: 'none', events: [] }],
      ['no.such', {}],
      ['constructor', {}],
      ['log.read', { from: 0 }],
      ['session.get', { sessionKey: '\ud800' }],
    ] as const) {
      const { error } = await line.call(method, params);
      const { body } = await send(`/v1/${method}`, { body: params });
      assert.equal(error?.data as object, body.error, method);
    }
  });
});

test('requests: a batch is answered in one frame', async () => {
  await withBench(async ({ enter }) => {
    const line = await enter();
    const before = line.messages.length;
    const calls = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id: `n${id}`, method: 'daemon.status' }));
    line.socket.send(JSON.stringify([...calls, { jsonrpc: '2.0', method: 'projections.flush' }, 'x']));
    await line.until((message) => Array.isArray(message));
    const batch = line.messages[before] as unknown as { id: unknown; error?: { code: number } }[];
    assert.equal(
      batch.map(({ id, error }) => `${id} ${error?.code}`),
      ['n1 undefined', 'n2 undefined', 'n3 undefined', 'null -32600'],
    );
  });
});

test('requests: thousands at once are all answered', async () => {
  await withBench(async ({ enter, daemon }) => {
    const line = await enter();
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      line.call('conversation.clear', { conversationKey: `thread:${index}` }),
    );
    const answers = await Promise.all(calls);
    assert.ok(answers.every(({ result }) => result !== undefined));
    assert.is(daemon.log.head(), 1_000);
  });
});

test('log.subscribe: from a seq on, then live, without a gap, until it is ended', async () => {
  await withBench(async (bench) => {
    await clear(bench, 5);
    const line = await bench.enter();
    const { result } = await line.call('log.subscribe', { from: 3 });
    const { subscription } = result as { subscription: number };
    await line.until(({ params }) => params?.event?.seq === 5);
    await clear(bench, 0);
    await bench.daemon.dispatcher.call('bridge.record', record);
    await line.until(({ params }) => params?.event?.seq === 7);
    const seqs = line.messages.flatMap(({ params }) => params?.event?.seq ?? []);
    assert.equal(seqs, [3, 4, 5, 6, 7]);
    const first = line.messages.find(({ params }) => params !== undefined);
    const { events } = await bench.daemon.dispatcher.call('log.read', { from: 3, limit: 1 });
    assert.equal(first?.params?.event as unknown, JSON.parse(JSON.stringify((events as Envelope[])[0])));
    assert.is(bench.http.subscribers(), 1);
    await line.call('unsubscribe', { subscription });
    const count = line.messages.length;
    await bench.daemon.dispatcher.call('conversation.clear', { conversationKey: 'late' });
    await line.call('daemon.status');
    assert.is(line.messages.length, count + 1);
    assert.is(bench.http.subscribers(), 0);
  });
});

test('log.subscribe: parameters that are wrong are refused, and nothing is followed', async () => {
  await withBench(async ({ enter, http }) => {
    const line = await enter();
    for (const params of [{ from: 0 }, { from: '1' }, { more: 1 }]) {
      assert.is((await line.call('log.subscribe', params)).error?.code, -32_602);
    }
    assert.is(http.subscribers(), 0);
  });
});

test('live.subscribe: what happens on bridges, deltas included', async () => {
  await withBench(async ({ enter, daemon }) => {
    const line = await enter();
    await line.call('live.subscribe', { conversationKey: 'thread:s' });
    await daemon.dispatcher.call('bridge.record', record);
    const events = [
      { type: 'turn_start', turnId: 't' },
      { type: 'text_delta', turnId: 't', delta: 'hi' },
      { type: 'turn_end', turnId: 't' },
    ];
    await daemon.dispatcher.call('bridge.event', { bridgeId: 'b1', events });
    await line.until(({ params }) => params?.event?.type === 'turn_end');
    const types = line.messages.flatMap(({ params }) => (params?.event as LiveEvent | undefined)?.type ?? []);
    assert.equal(types, ['turn_start', 'text_delta', 'turn_end']);
  });
});

/** Much that is to be read, by somebody who does not. */
async function fill({ daemon }: Bench): Promise<void> {
  const text = 'x'.repeat(500_000);
  const entries = Array.from({ length: 40 }, (_, place) => ({ scopeId: `s${place}`, messages: [{ text }] }));
  await daemon.dispatcher.call('transcripts.saveBatch', { entries });
}

test('slow: a subscriber that does not read holds no memory, and is let go', async () => {
  await withBench(
    async (bench) => {
      await fill(bench);
      const line = await bench.enter();
      await line.call('daemon.status');
      line.socket.pause();
      line.socket.send(
        JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'log.subscribe', params: { from: 1 } }),
      );
      while (bench.http.subscribers() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      while (bench.http.webSockets() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.is(bench.http.subscribers(), 0);
    },
    { limits: { rpc: { ...RPC_LIMITS, stallTimeoutMs: 200, closeTimeoutMs: 100 } } },
  );
});

test('slow: one that reads again in time is told why it is let go', async () => {
  await withBench(
    async (bench) => {
      await fill(bench);
      const line = await bench.enter();
      line.socket.pause();
      line.socket.send(
        JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'log.subscribe', params: { from: 1 } }),
      );
      while (bench.http.subscribers() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      while (bench.http.subscribers() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      line.socket.resume();
      assert.is(await line.closed, '1013 too_slow');
      assert.is(line.messages.at(-1)?.params?.error?.code, 'too_slow');
    },
    { limits: { rpc: { ...RPC_LIMITS, stallTimeoutMs: 100, closeTimeoutMs: 20_000 } } },
  );
});

test('slow: over server-sent events likewise', async () => {
  await withBench(
    async (bench) => {
      await fill(bench);
      const { port, hostname } = new URL(bench.url);
      const socket = connect(Number(port), hostname);
      try {
        socket.pause();
        socket.write(
          `GET /v1/events HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${bench.token}\r\nconnection: close\r\n\r\n`,
        );
        while (bench.http.subscribers() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        while (bench.http.subscribers() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
        let text = '';
        for await (const chunk of socket.resume()) text = `${text}${chunk}`.slice(-1_000);
        assert.match(text, 'event: error\ndata: {"code":"too_slow"');
      } finally {
        socket.destroy();
      }
    },
    { limits: { eventStreams: { heartbeatMs: 15_000, stallTimeoutMs: 100, closeTimeoutMs: 20_000 } } },
  );
});

test('keepalive: a peer that does not answer is given up, one that does is kept', async () => {
  await withBench(
    async ({ enter, http }) => {
      const dead = await enter();
      const alive = await enter();
      // Nothing is read any more, so nothing is answered: as after a cable was pulled.
      dead.socket.pause();
      while (http.webSockets() > 1) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.ok((await alive.call('daemon.status')).result);
    },
    { limits: { webSockets: { ...WEB_SOCKET_LIMITS, pingIntervalMs: 100 } } },
  );
});

test('close: what is under way is answered, and the peer is told', async () => {
  await withBench(async ({ enter, http, daemon }) => {
    const line = await enter();
    await line.call('log.subscribe');
    const calls = Array.from({ length: 50 }, (_, index) =>
      line.call('conversation.clear', { conversationKey: `thread:${index}` }),
    );
    await calls[0];
    const settled = Promise.allSettled(calls);
    await http.close();
    assert.is(await line.closed, '1001 store_closed');
    const answered = (await settled).filter(({ status }) => status === 'fulfilled').length;
    assert.is(answered, daemon.log.head());
    assert.is(http.subscribers(), 0);
  });
});

test.run();
