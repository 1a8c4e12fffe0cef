import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bench, withBench } from './http/testing.ts';

const SECRET = 'a secret thing "\n';
const record = {
  bridgeId: SECRET,
  provider: 'codex',
  conversationKey: `thread:${SECRET}`,
  commandId: SECRET,
};

/** The figures by their names and labels. */
async function figuresOf({
  send,
}: Bench): Promise<{ text: string; figure(name: string): number | undefined }> {
  const { text, status } = await send('/metrics', { method: 'GET' });
  assert.is(status, 200);
  const figures = new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line): [string, number] => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );
  return { text, figure: (name) => figures.get(name) };
}

test('metrics: calls by operation and code, the log, projections, bridges, subscribers, the process', async () => {
  await withBench(async (bench) => {
    const { daemon, send, enter } = bench;
    await send('/v1/bridge.record', { body: record });
    await send('/v1/conversation.load', { body: { conversationKey: SECRET } });
    await send(`/v1/${encodeURIComponent(SECRET)}`, { body: {} });
    await send('/v1/log.read', { body: { from: 0 } });
    const line = await enter();
    await line.call('log.subscribe');
    await daemon.projections.flush();
    const { text, figure } = await figuresOf(bench);
    assert.is(figure('turnlog_operations_total{operation="bridge.record",code="ok"}'), 1);
    assert.is(
      figure('turnlog_operations_total{operation="conversation.load",code="conversation_not_found"}'),
      1,
    );
    assert.is(figure('turnlog_operations_total{operation="log.read",code="invalid_argument"}'), 1);
    assert.is(figure('turnlog_operations_total{operation="unknown",code="operation_not_found"}'), 1);
    assert.is(figure('turnlog_operation_duration_seconds_count{operation="bridge.record"}'), 1);
    assert.is(figure('turnlog_log_head'), daemon.log.head());
    assert.is(figure('turnlog_bridges'), 1);
    assert.is(figure('turnlog_subscribers'), 1);
    assert.is(figure('turnlog_web_sockets'), 1);
    assert.is(figure('turnlog_ready'), 1);
    assert.is(figure('turnlog_projection_lag{projection="conversations"}'), 0);
    assert.is(figure('turnlog_projection_waiting_files{projection="sessions"}'), 0);
    assert.ok((figure('process_resident_memory_bytes') ?? 0) > 0);
    assert.not.match(text, 'secret');
    for (const name of new Set(text.match(/^# TYPE \S+/gm))) {
      assert.is(text.split(`${name} `).length, 2, `${name} is there once`);
    }
  });
});

test('metrics: no label is made of what a caller wrote, however many names he makes up', async () => {
  await withBench(async (bench) => {
    for (let index = 0; index < 50; index += 1) await bench.send(`/v1/made.up${index}`, { body: {} });
    const { text } = await figuresOf(bench);
    assert.not.match(text, 'made.up');
    assert.is(text.match(/turnlog_operations_total\{/g)?.length, 1);
  });
});

test('metrics and openapi: asked with a token; a web token sees no figures', async () => {
  await withBench(async ({ send, daemon }) => {
    const { token } = await daemon.tokens.create({ scope: 'web' });
    for (const path of ['/metrics', '/openapi.json']) {
      assert.is((await send(path, { method: 'GET', token: null })).status, 401, path);
      assert.is((await send(path, { method: 'GET', token: 'wrong' })).status, 401, path);
    }
    const refused = await send('/metrics', { method: 'GET', token });
    assert.is(refused.body.error?.code, 'forbidden');
    const document = await send('/openapi.json', { method: 'GET', token });
    assert.is((JSON.parse(document.text) as { openapi: string }).openapi, '3.1.0');
  });
});

test.run();
