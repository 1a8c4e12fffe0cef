import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Envelope } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type DaemonProcess, runTurnlog, withDirectory } from './support/daemon-process.ts';

interface Answer {
  status: number;
  body: { result?: unknown; error?: { code: string; message: string } };
}

/** A request as somebody writes it who minds no rules. */
async function send(
  daemon: DaemonProcess,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; token?: string | null } = {},
): Promise<Answer> {
  const { method = 'POST', headers = {}, body, token = daemon.token } = options;
  const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(
      `${daemon.url}${path}`,
      {
        method,
        headers: {
          'content-type': 'application/json',
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
  return { status: answer.status, body: JSON.parse(answer.text) as Answer['body'] };
}

const record = JSON.stringify({ bridgeId: 'b1', provider: 'codex', conversationKey: 'thread:s' });

test('access: without the token, with a wrong one, from a foreign origin or by a foreign name nothing is done', async () => {
  await withDirectory(async (_directory, start) => {
    const daemon = await start();
    const refusals: [string, Parameters<typeof send>[2], number][] = [
      ['unauthorized', { token: null }, 401],
      ['unauthorized', { token: 'wrong' }, 401],
      ['unauthorized', { token: null, headers: { authorization: `Basic ${daemon.token}` } }, 401],
      ['forbidden_origin', { headers: { origin: 'http://evil.example' } }, 403],
      ['forbidden_origin', { headers: { origin: 'null' } }, 403],
      ['forbidden_origin', { headers: { origin: 'http://127.0.0.1:1' } }, 403],
      ['forbidden_origin', { headers: { host: 'evil.example:7717' } }, 403],
      ['forbidden_origin', { headers: { host: '127.0.0.1' } }, 403],
    ];
    for (const [code, options, status] of refusals) {
      const answer = await send(daemon, '/v1/bridge.record', { ...options, body: record });
      assert.is(answer.body.error?.code, code, JSON.stringify(options));
      assert.is(answer.status, status);
    }
    assert.is((await send(daemon, '/v1/events?from=1', { method: 'GET', token: null })).status, 401);
    const own = await send(daemon, '/v1/daemon.status', { headers: { origin: daemon.url }, body: '{}' });
    assert.is(own.status, 200);
    assert.is((own.body.result as { seq: number }).seq, 0);
  });
});

test('input: what is no object, has unknown fields or wrong types is refused and nothing is written', async () => {
  await withDirectory(async (_directory, start) => {
    const daemon = await start();
    const refusals: [string, string | undefined, string][] = [
      ['/v1/bridge.record', '{', 'invalid_argument'],
      ['/v1/bridge.record', '[]', 'invalid_argument'],
      ['/v1/bridge.record', 'null', 'invalid_argument'],
      ['/v1/bridge.record', '"x"', 'invalid_argument'],
      ['/v1/bridge.record', '', 'invalid_argument'],
      ['/v1/bridge.record', JSON.stringify({ bridgeId: 'b1' }), 'invalid_argument'],
      ['/v1/bridge.record', JSON.stringify({ bridgeId: 1, provider: 'codex' }), 'invalid_argument'],
      ['/v1/bridge.record', '{"bridgeId":"\\ud800","provider":"codex"}', 'invalid_argument'],
      [
        '/v1/bridge.record',
        JSON.stringify({ bridgeId: 'x'.repeat(5_000), provider: 'codex' }),
        'invalid_argument',
      ],
      [
        '/v1/bridge.record',
        JSON.stringify({ bridgeId: 'b1', provider: 'codex', more: 1 }),
        'invalid_argument',
      ],
      ['/v1/bridge.record', '{"bridgeId":"b1","provider":"codex","__proto__":{"x":1}}', 'invalid_argument'],
      ['/v1/bridge.record', JSON.stringify({ bridgeId: 'b1', provider: 'nobody' }), 'provider_not_found'],
      ['/v1/bridge.event', JSON.stringify({ bridgeId: 'b1', events: [] }), 'bridge_not_found'],
      ['/v1/bridge.stop', JSON.stringify({ bridgeId: 'b1' }), 'bridge_not_found'],
      ['/v1/conversation.load', JSON.stringify({ conversationKey: 'x' }), 'conversation_not_found'],
      ['/v1/log.read', JSON.stringify({ from: 0 }), 'invalid_argument'],
      ['/v1/constructor', '{}', 'operation_not_found'],
      ['/v1/no.such', '{}', 'operation_not_found'],
      ['/elsewhere', '{}', 'operation_not_found'],
    ];
    for (const [path, body, code] of refusals) {
      const answer = await send(daemon, path, body === undefined ? {} : { body });
      assert.is(
        answer.body.error?.code,
        code,
        `${path} ${body?.slice(0, 80)}: ${JSON.stringify(answer.body)}`,
      );
      assert.ok(answer.status >= 400 && answer.status < 500);
    }
    const form = await send(daemon, '/v1/bridge.record', {
      body: 'bridgeId=b1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.is(form.body.error?.code, 'invalid_argument');
    assert.is((await daemon.client.call('daemon.status', {})).seq, 0);
  });
});

test('input: what is no HTTP, no URL, no UTF-8 or of another kind is refused in the one shape of errors', async () => {
  await withDirectory(async (_directory, start) => {
    const daemon = await start();
    const badUrl = await send(daemon, '/v1/%zz', { body: '{}' });
    assert.is(badUrl.body.error?.code, 'invalid_argument', JSON.stringify(badUrl.body));
    const refusals: Record<string, string>[] = [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json; charset=utf-16' },
      { 'content-encoding': 'gzip' },
    ];
    for (const headers of refusals) {
      const answer = await send(daemon, '/v1/daemon.status', { headers, body: '{}' });
      assert.is(answer.body.error?.code, 'invalid_argument', JSON.stringify(headers));
    }
    const raw = async (text: string | Buffer) => {
      const { hostname, port } = new URL(daemon.url);
      const socket = connect(Number(port), hostname);
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.end(text);
      await once(socket, 'close');
      const [, body] = Buffer.concat(chunks).toString().split('\r\n\r\n');
      return JSON.parse(body ?? '').error.code as string;
    };
    assert.is(await raw('nonsense\r\n\r\n'), 'invalid_argument');
    const header = `GET /healthz HTTP/1.1\r\nHost: ${new URL(daemon.url).host}\r\n`;
    assert.is(await raw(`${header}X: ${'x'.repeat(100_000)}\r\n\r\n`), 'too_large');
    const body = Buffer.from('{"conversationKey":"\xff\xfe"}', 'latin1');
    const post = header.replace('GET /healthz', 'POST /v1/conversation.clear');
    const head = `${post}Authorization: Bearer ${daemon.token}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    assert.is(await raw(Buffer.concat([Buffer.from(head), body])), 'invalid_argument');
    assert.is((await daemon.client.call('daemon.status', {})).seq, 0);
  });
});

test('input: one bad event among good ones, and none of them is taken', async () => {
  await withDirectory(async (_directory, start) => {
    const daemon = await start();
    await daemon.client.call('bridge.record', JSON.parse(record));
    const { seq } = await daemon.client.call('daemon.status', {});
    const events = [{ type: 'turn_start', turnId: 't1' }, { type: 'turn_end' }];
    const answer = await send(daemon, '/v1/bridge.event', {
      body: JSON.stringify({ bridgeId: 'b1', events }),
    });
    assert.is(answer.body.error?.message, 'events[1].turnId is missing');
    assert.is((await daemon.client.call('daemon.status', {})).seq, seq);
  });
});

test('limits: a body over the limit is refused with its own code, and the daemon goes on', async () => {
  await withDirectory(async (_directory, start) => {
    const daemon = await start();
    const headers = { 'content-length': String(65 * 1024 * 1024) };
    const answer = await send(daemon, '/v1/transcripts.save', { headers, body: '{' }).catch((error) => error);
    assert.is((answer as Answer).body?.error?.code, 'too_large');
    assert.is((answer as Answer).status, 413);
    assert.is((await send(daemon, '/healthz', { method: 'GET', token: null })).status, 200);
  });
});

test('health: open to everybody, and says nothing but the state', async () => {
  await withDirectory(async (_directory, start) => {
    const daemon = await start();
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ] as const) {
      const answer = await send(daemon, path, { method: 'GET', token: null });
      assert.is(answer.status, 200);
      assert.equal(answer.body, { status });
    }
  });
});

test('events: from a seq on, then live, without a gap and each as its own message', async () => {
  await withDirectory(async (_directory, start) => {
    const { client, url, token } = await start();
    await client.call('bridge.record', JSON.parse(record));
    const write = async (turn: number) => {
      const turnId = `t${turn}`;
      const events = [
        { type: 'turn_start', turnId },
        { type: 'turn_end', turnId, text: `line one\nline two ${turn}\r\n\u2028` },
      ];
      await client.call('bridge.event', { bridgeId: 'b1', events });
    };
    for (let turn = 1; turn <= 20; turn += 1) await write(turn);
    const stopped = new AbortController();
    const seen: Envelope[] = [];
    const reading = (async () => {
      for await (const event of client.subscribe({ from: 3, signal: stopped.signal })) {
        seen.push(event);
        if (event.seq === 82) stopped.abort();
      }
    })();
    for (let turn = 21; turn <= 40; turn += 1) await write(turn);
    await reading;
    assert.equal(
      seen.map((event) => event.seq),
      Array.from({ length: 80 }, (_, index) => index + 3),
    );
    const { events } = await client.call('log.read', { from: 3, limit: 1_000 });
    assert.equal(seen, events);

    const raw = await fetch(`${url}/v1/events?from=1`, {
      headers: { authorization: `Bearer ${token}`, 'last-event-id': '81' },
    });
    const reader = raw.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('data:')) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    assert.match(text, /(^|\n)id: 82\ndata: \{"seq":82,/);
    const bad = await fetch(`${url}/v1/events?from=0`, { headers: { authorization: `Bearer ${token}` } });
    assert.is(bad.status, 400);
  });
});

test('files: only the owner may read them', async () => {
  await withDirectory(async (directory, start) => {
    await start();
    for (const name of ['token', 'secret', 'daemon.json']) {
      assert.is((await stat(join(directory, 'data', name))).mode & 0o777, 0o600, name);
    }
    assert.is((await stat(join(directory, 'data'))).mode & 0o777, 0o700);
  });
});

test('stop: SIGTERM finishes what was accepted, and the next daemon has all of it', async () => {
  await withDirectory(async (directory, start) => {
    const daemon = await start();
    await daemon.client.call('bridge.record', JSON.parse(record));
    const events = [{ type: 'text_delta', turnId: 't1', delta: 'gathered' }];
    await daemon.client.call('bridge.event', { bridgeId: 'b1', events });
    const inFlight = Array.from({ length: 50 }, (_, index) =>
      daemon.client.call('conversation.clear', { conversationKey: `thread:${index}` }),
    );
    const allSettled = Promise.allSettled(inFlight);
    await inFlight[0];
    const exitCode = await daemon.kill('SIGTERM');
    assert.is(exitCode, 0, daemon.stderr());
    const settled = await allSettled;
    const acknowledged = settled.filter(({ status }) => status === 'fulfilled').length;
    const again = await start();
    const { events: logged } = await again.client.call('log.read', { from: 1, limit: 1_000 });
    const types = (logged as Envelope[]).map(({ type }) => type);
    assert.ok(types.filter((type) => type === 'conversation_cleared').length >= acknowledged);
    assert.ok(types.includes('turn_output'), 'the gathered delta was written');
    assert.not.match(
      await readFile(join(directory, 'data', 'daemon.json'), 'utf8'),
      `"pid":${daemon.child.pid},`,
    );
  });
});

test('stop: connections that are kept alive, or never finish a request, do not hold it up', async () => {
  await withDirectory(async (_directory, start) => {
    const daemon = await start();
    const { hostname, port } = new URL(daemon.url);
    const unfinished = connect(Number(port), hostname);
    unfinished.on('error', () => {});
    await once(unfinished, 'connect');
    unfinished.write('POST /v1/daemon.status HTTP/1.1\r\nHost: a');
    const calls = Array.from({ length: 5 }, () => daemon.client.call('daemon.status', {}));
    const ended = daemon.kill('SIGTERM');
    await Promise.allSettled(calls);
    const late = new Promise((resolve) => setTimeout(resolve, 30_000, 'still running').unref());
    assert.is(await Promise.race([ended, late]), 0, daemon.stderr());
    unfinished.destroy();
  });
});

test('lock: a second daemon on the same data says which process holds it, and ends with 3', async () => {
  await withDirectory(async (directory, start) => {
    const daemon = await start();
    const second = await runTurnlog(['serve', '--data', join(directory, 'data'), '--port', '0']);
    assert.is(second.exitCode, 3, second.stderr);
    assert.match(second.stderr, /store_locked/);
    assert.match(second.stderr, String(daemon.child.pid));
    assert.is((await daemon.client.call('daemon.status', {})).state, 'ready');
  });
});

test('port: one that is taken is said so, and nothing is left locked', async () => {
  await withDirectory(async (directory, start) => {
    const daemon = await start();
    const port = new URL(daemon.url).port;
    const other = join(directory, 'other');
    const second = await runTurnlog(['serve', '--data', other, '--port', port]);
    assert.is(second.exitCode, 1);
    assert.match(second.stderr, /EADDRINUSE/);
    const status = await runTurnlog(['status', '--data', other, '--json']);
    assert.is(status.exitCode, 0, status.stderr);
  });
});

test.run();
