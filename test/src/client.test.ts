import { once } from 'node:events';
import { readFile, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ClientError, connect, createClient } from '@turnlog/client';
import { operations, type ReportedEvent } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runProgram, withDirectory } from './support/daemon-process.ts';

const record = { bridgeId: 'b1', provider: 'codex', conversationKey: 'thread:a' };

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  return await promise.then(
    () => undefined,
    (error: unknown) => (error instanceof ClientError ? error.code : String(error)),
  );
}

test('connect: by data directory or by address, and every operation is a method', async () => {
  await withDirectory(async (directory, start) => {
    const dataDirectory = join(directory, 'data');
    assert.is(await codeOf(connect({ dataDirectory })), 'unreachable');
    const { url, token } = await start();
    const local = await connect({ dataDirectory });
    const remote = await connect({ address: url, token });
    assert.is(await codeOf(connect({ address: url, token: 'wrong' })), 'unauthorized');
    for (const client of [local, remote]) {
      assert.is(client.address, url);
      assert.is((await client.daemon.status()).data, dataDirectory);
      for (const name of Object.keys(operations)) {
        const [subject = '', verb = ''] = name.split('.');
        const methods = (client as unknown as Record<string, Record<string, unknown>>)[subject];
        assert.type(methods?.[verb], 'function', name);
      }
    }
    await local.bridge.record(record);
    const long = 'long '.repeat(200_000);
    const events = [
      { type: 'prompt', text: long },
      { type: 'turn_end', turnId: 't1', text: '\ud800 \u0000' },
    ];
    await remote.bridge.event({ bridgeId: 'b1', first: 1, events });
    const { messages } = await local.conversation.load({ conversationKey: 'thread:a' });
    assert.equal(
      messages.map(({ content }) => content),
      [long, '\ud800 \u0000'],
    );
    local.close();
    remote.close();
  });
});

test('connect: a stranger where a killed daemon was does not get the token', async () => {
  await withDirectory(async (directory, start) => {
    const dataDirectory = join(directory, 'data');
    const daemon = await start();
    const client = await connect({ dataDirectory });
    await daemon.kill('SIGKILL');
    const told: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      told.push(request.headers.authorization);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    try {
      const file = join(dataDirectory, 'daemon.json');
      const left = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
      const address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
      await writeFile(file, JSON.stringify({ ...left, addresses: [address] }));
      assert.is(await codeOf(client.daemon.status()), 'unreachable');
      assert.is(await codeOf(connect({ dataDirectory })), 'unreachable');
      const save = () => client.transcripts.saveBatchSync([], { timeoutMs: 2_000 });
      assert.throws(save, (error: unknown) => (error as ClientError).code === 'unreachable');
      assert.equal(told, []);
    } finally {
      stranger.close();
      client.close();
    }
  });
});

test('connect: by the port where there is no socket', async () => {
  await withDirectory(async (directory, start) => {
    const dataDirectory = join(directory, 'data');
    await start();
    const { socket } = JSON.parse(await readFile(join(dataDirectory, 'daemon.json'), 'utf8')) as {
      socket: string;
    };
    await unlink(socket);
    const client = await connect({ dataDirectory });
    assert.is((await client.daemon.status()).seq, 0);
    client.close();
  });
});

test('live: what a bridge reports is told, deltas included', async () => {
  await withDirectory(async (directory, start) => {
    await start();
    const client = await connect({ dataDirectory: join(directory, 'data') });
    const bridge = await client.recordBridge(record);
    const told: string[] = [];
    const events: ReportedEvent[] = [
      { type: 'turn_start', turnId: 't1' },
      { type: 'text_delta', turnId: 't1', delta: 'a' },
      { type: 'turn_end', turnId: 't1' },
    ];
    void bridge.report(events[0] as ReportedEvent);
    for await (const { type } of client.live({ from: 1, bridgeId: 'b1' })) {
      if (!events.some((event) => event.type === type)) continue;
      // The next one is reported when the last was told, so the deltas cannot come too early.
      told.push(type);
      const next = events[told.length];
      if (next === undefined) break;
      void bridge.report(next);
    }
    assert.equal(
      told,
      events.map(({ type }) => type),
    );
    await bridge.close();
    client.close();
  });
});

const EXITING = `
import { connect } from '@turnlog/client';
const [dataDirectory, timeoutMs, stopped] = process.argv.slice(1);
const client = await connect({ dataDirectory });
await client.transcripts.save({ scopeId: 's1', messages: [{ id: 'a', text: 'one' }] });
process.on('exit', () => {
  const messages = [{ id: 'a', text: 'one' }, { id: 'b', text: 'two', odd: '\\ud800' }];
  try {
    const { seq } = client.transcripts.saveBatchSync([{ scopeId: 's1', messages }], { timeoutMs: Number(timeoutMs) });
    process.stdout.write('saved ' + (seq > 0));
  } catch (error) {
    process.stdout.write(error.code);
  }
});
if (stopped !== undefined) process.kill(Number(stopped), 'SIGSTOP');
client.close();
`;

test('saveBatchSync: in the exit handler of a process, returns when it is acknowledged', async () => {
  await withDirectory(async (directory, start) => {
    await start();
    const dataDirectory = join(directory, 'data');
    const { stdout, stderr, exitCode } = await runProgram(EXITING, [dataDirectory, '20000']);
    assert.is(stdout, 'saved true', stderr);
    assert.is(exitCode, 0);
    const client = await connect({ dataDirectory });
    const { messages } = await client.transcripts.load({ scopeId: 's1' });
    assert.equal(messages.at(-1), { id: 'b', text: 'two', odd: '\ud800' });
    client.close();
  });
});

test('saveBatchSync: throws after its time-out where the daemon does not answer', async () => {
  await withDirectory(async (directory, start) => {
    const daemon = await start();
    const pid = String(daemon.child.pid);
    const { stdout, stderr } = await runProgram(EXITING, [join(directory, 'data'), '300', pid]);
    daemon.child.kill('SIGCONT');
    assert.is(stdout, 'timed_out', stderr);
  });
});

test('time-out: a daemon that is stopped does not hold a call for ever', async () => {
  await withDirectory(async (_directory, start) => {
    const { url, token, child } = await start();
    const client = createClient({ address: url, token });
    await client.daemon.status();
    child.kill('SIGSTOP');
    assert.is(await codeOf(client.daemon.status({}, { timeoutMs: 100 })), 'timed_out');
    child.kill('SIGCONT');
    assert.is((await client.daemon.status()).state, 'ready');
    client.close();
  });
});

test.run();
