import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type RunningDaemon, type ServeOptions, serve } from './serve.ts';

interface Place {
  root: string;
  data: string;
  start(options?: Partial<ServeOptions>): Promise<RunningDaemon>;
}

async function withPlace(task: (place: Place) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'tl-'));
  const running: RunningDaemon[] = [];
  try {
    const data = join(root, 'data');
    await task({
      root,
      data,
      async start(options = {}) {
        const daemon = await serve({ dataDirectory: data, port: 0, logLevel: 'silent', ...options });
        running.push(daemon);
        return daemon;
      },
    });
  } finally {
    await Promise.all(running.map((daemon) => daemon.stop()));
    await rm(root, { recursive: true, force: true });
  }
}

async function statusOver(socketPath: string): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    request({ socketPath, path: '/healthz' }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
}

async function addressIn(data: string): Promise<{ socket?: string; addresses: string[] }> {
  return JSON.parse(await readFile(join(data, 'daemon.json'), 'utf8'));
}

const missing = ({ code }: NodeJS.ErrnoException) => code;

test('socket: listens beside the port, is named in daemon.json, and is gone with the daemon', async () => {
  await withPlace(async ({ root, data, start }) => {
    const runtimeDirectory = join(root, 'run');
    await mkdir(runtimeDirectory, { mode: 0o700 });
    const running = await start({ runtimeDirectory });
    const path = running.socket ?? '';
    assert.is(dirname(dirname(path)), runtimeDirectory);
    assert.is((await stat(path)).mode & 0o777, 0o700);
    assert.is((await stat(dirname(path))).mode & 0o777, 0o700);
    assert.is(await statusOver(path), 200);
    const { socket, addresses } = await addressIn(data);
    assert.equal([socket, addresses], [path, [running.url]]);
    await running.stop();
    assert.is(await stat(path).catch(missing), 'ENOENT');
    assert.is(await stat(join(data, 'daemon.json')).catch(missing), 'ENOENT');
    assert.is(await statusOver((await start({ runtimeDirectory })).socket ?? ''), 200);
  });
});

test('socket: without a runtime directory it is in the data directory', async () => {
  await withPlace(async ({ data, start }) => {
    const running = await start();
    assert.is(running.socket, join(data, 'turnlog.sock'));
    assert.is(await statusOver(join(data, 'turnlog.sock')), 200);
  });
});

test('socket: where there can be none the port is enough, and daemon.json names none', async () => {
  await withPlace(async ({ data, start }) => {
    await mkdir(data);
    await writeFile(join(data, 'turnlog.sock'), 'not a socket');
    const running = await start();
    assert.is(running.socket, undefined);
    assert.is((await addressIn(data)).socket, undefined);
    assert.is((await fetch(`${running.url}/healthz`)).status, 200);
    await running.stop();
    assert.is(await readFile(join(data, 'turnlog.sock'), 'utf8'), 'not a socket');
  });
});

test('socket: a second daemon on the same data is refused and takes nothing from the first', async () => {
  await withPlace(async ({ root, data, start }) => {
    const runtimeDirectory = join(root, 'run');
    await mkdir(runtimeDirectory, { mode: 0o700 });
    const first = await start({ runtimeDirectory });
    const refused = await serve({ dataDirectory: data, port: 0, runtimeDirectory }).then(
      async (second) => {
        await second.stop();
        return 'started';
      },
      ({ code }) => code,
    );
    assert.is(refused, 'store_locked');
    assert.is(await statusOver(first.socket ?? ''), 200);
  });
});

test('heads: to ask for the head of a stream follows nothing', async () => {
  await withPlace(async ({ data, start }) => {
    const { url, daemon } = await start();
    const token = (await readFile(join(data, 'token'), 'utf8')).trim();
    for (const path of ['/v1/events', '/v1/live']) {
      const headers = { authorization: `Bearer ${token}` };
      const head = await fetch(`${url}${path}`, { method: 'HEAD', headers });
      assert.is(head.status, 404, path);
    }
    assert.is((await daemon.dispatcher.call('daemon.status', {})).subscribers, 0);
  });
});

test.run();
