import type { RequestListener, ServerResponse } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createClient } from './client.ts';
import { codeOfRejection } from './testing/code-of.ts';
import { withHttpServer } from './testing/servers.ts';

const token = 'token';

/** Answers each request with the next of these streams, and then with streams that stay open. */
function streams(asked: string[], ...all: ((response: ServerResponse) => void)[]): RequestListener {
  return (request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': hello\n\n');
    all.shift()?.(response);
  };
}

function message(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

async function take<Value>(values: AsyncIterable<Value>, count: number): Promise<Value[]> {
  const taken: Value[] = [];
  for await (const value of values) if (taken.push(value) === count) break;
  return taken;
}

test('log: goes on after the last event when the connection ends or breaks off', async () => {
  const asked: string[] = [];
  const listener = streams(
    asked,
    (response) => response.end(message({ seq: 3 }) + message({ seq: 4 })),
    (response) => {
      response.write(`${message({ seq: 5 })}data: {"se`);
      setTimeout(() => response.destroy(), 10);
    },
    (response) => response.write(message({ seq: 6 })),
  );
  await withHttpServer(listener, async (address) => {
    const events = await take(createClient({ address, token }).subscribe({ from: 3 }), 4);
    assert.equal(
      events.map(({ seq }) => seq),
      [3, 4, 5, 6],
    );
    assert.equal(asked, ['/v1/events?from=3', '/v1/events?from=5', '/v1/events?from=6']);
  });
});

test('log: a missing event is an error', async () => {
  const listener = streams([], (response) => response.write(message({ seq: 1 }) + message({ seq: 3 })));
  await withHttpServer(listener, async (address) => {
    const code = await codeOfRejection(take(createClient({ address, token }).subscribe(), 2));
    assert.is(code, 'internal');
  });
});

test('log: ends with its signal, and without reconnect with the connection', async () => {
  const listener = streams([], (response) => response.end(message({ seq: 1 })));
  await withHttpServer(listener, async (address) => {
    const client = createClient({ address, token });
    assert.is((await take(client.subscribe({ reconnect: false }), 10)).length, 1);
    const stopped = new AbortController();
    setTimeout(() => stopped.abort(), 20);
    assert.is((await take(client.subscribe({ signal: stopped.signal }), 10)).length, 0);
  });
});

test('log: what does not pass by itself is thrown; who reads too slowly goes on', async () => {
  const slow = `event: error\ndata: ${JSON.stringify({ code: 'too_slow', message: 'slow' })}\n\n`;
  const broken = `event: error\ndata: ${JSON.stringify({ code: 'store_damaged', message: 'broken' })}\n\n`;
  const asked: string[] = [];
  const listener = streams(
    asked,
    (response) => response.end(message({ seq: 1 }) + slow),
    (response) => response.end(message({ seq: 2 }) + broken),
  );
  await withHttpServer(listener, async (address) => {
    assert.is(await codeOfRejection(take(createClient({ address, token }).subscribe(), 3)), 'store_damaged');
    assert.is(asked.length, 2);
  });
});

test('log: a refusal, and an answer that is no stream, are errors', async () => {
  const refusal = JSON.stringify({ error: { code: 'unauthorized', message: 'no' } });
  await withHttpServer(
    (_request, response) => response.writeHead(401).end(refusal),
    async (address) => {
      assert.is(await codeOfRejection(take(createClient({ address, token }).subscribe(), 1)), 'unauthorized');
    },
  );
  await withHttpServer(
    (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    async (address) => {
      const values = createClient({ address, token }).subscribe({ reconnect: false });
      assert.is(await codeOfRejection(take(values, 1)), 'unreachable');
    },
  );
});

test('live: goes on within the record that was told in part', async () => {
  const asked: string[] = [];
  const event = (seq: number, turnId: string) => message({ type: 'turn_start', bridgeId: 'b1', seq, turnId });
  const delta = message({ type: 'text_delta', bridgeId: 'b1', turnId: 'c', delta: 'x' });
  const listener = streams(
    asked,
    (response) => response.end(event(7, 'a') + event(8, 'b') + event(8, 'c') + delta),
    (response) => response.write(event(8, 'b') + event(8, 'c') + event(8, 'd') + event(9, 'e')),
  );
  await withHttpServer(listener, async (address) => {
    const live = createClient({ address, token }).live({ bridgeId: 'b 1', conversationKey: 'é&' });
    const events = await take(live, 6);
    assert.equal(
      events.map((live) => ('turnId' in live ? `${live.type} ${live.turnId}` : live.type)),
      ['turn_start a', 'turn_start b', 'turn_start c', 'text_delta c', 'turn_start d', 'turn_start e'],
    );
    const query = 'bridgeId=b+1&conversationKey=%C3%A9%26';
    assert.equal(asked, [`/v1/live?${query}`, `/v1/live?${query}&from=8`]);
  });
});

test.run();
