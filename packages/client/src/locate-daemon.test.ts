import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultDataDirectory } from './data-directory.ts';
import { isSocketOf, locateDaemon } from './locate-daemon.ts';

const address = 'http://127.0.0.1:7717';
const PID_MAX = 4_194_304;

async function withData(task: (data: string, socket: string) => Promise<void>): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'turnlog-test-'));
  const socket = join(data, 'turnlog.sock');
  const server = createServer().listen(socket);
  await once(server, 'listening');
  try {
    await writeFile(join(data, 'token'), 'secret\n');
    await task(data, socket);
  } finally {
    server.close();
    await rm(data, { recursive: true, force: true });
  }
}

async function say(data: string, daemon: unknown): Promise<void> {
  await writeFile(join(data, 'daemon.json'), typeof daemon === 'string' ? daemon : JSON.stringify(daemon));
}

const running = identityOf(process.pid);
const gone = { pid: PID_MAX };

test('locate: the socket first, then the port', async () => {
  await withData(async (data, socket) => {
    await say(data, { ...running, addresses: [address], socket });
    assert.equal(locateDaemon(data), [
      { address, socketPath: socket, token: 'secret' },
      { address, token: 'secret' },
    ]);
  });
});

test('locate: the port only while the process runs that wrote it', async () => {
  await withData(async (data) => {
    await say(data, { ...gone, addresses: [address] });
    assert.equal(locateDaemon(data), []);
    await say(data, { ...running, startTicks: '1', addresses: [address] });
    assert.equal(locateDaemon(data), []);
    await say(data, { ...running, addresses: [address] });
    assert.is(locateDaemon(data).length, 1);
  });
});

test('locate: a socket that somebody else can have made is not used', async () => {
  await withData(async (data, socket) => {
    const uid = process.getuid?.() ?? 0;
    assert.ok(isSocketOf(socket, uid));
    assert.not.ok(isSocketOf(socket, uid + 1));
    await say(data, { ...gone, addresses: [address], socket });
    assert.is(locateDaemon(data).length, 1);
    await chmod(data, 0o777);
    assert.equal(locateDaemon(data), []);
    await chmod(data, 0o700);
    await writeFile(join(data, 'file'), '');
    await mkdir(join(data, 'directory'));
    for (const name of ['file', 'directory', 'missing', 'file/socket']) {
      await say(data, { ...gone, addresses: [address], socket: join(data, name) });
      assert.equal(locateDaemon(data), [], name);
    }
  });
});

test('locate: nothing where the files are missing, torn or of another shape', async () => {
  await withData(async (data) => {
    assert.equal(locateDaemon(data), []);
    const shapes = ['', '{"pid":', 'null', '[]', { pid: 1 }, { ...running, addresses: [] }];
    for (const shape of [
      ...shapes,
      { ...running, addresses: [1] },
      { ...running, addresses: [address], socket: 1 },
    ]) {
      await say(data, shape);
      assert.equal(locateDaemon(data), [], JSON.stringify(shape));
    }
    await say(data, { ...running, addresses: [address] });
    await rm(join(data, 'token'));
    assert.equal(locateDaemon(data), []);
    assert.equal(locateDaemon(join(data, 'missing')), []);
  });
});

test('data directory: what the environment says, else a place of the system', () => {
  assert.is(defaultDataDirectory({ TURNLOG_DATA: '/data' }), '/data');
  assert.match(defaultDataDirectory({}), /turnlog/);
  assert.match(defaultDataDirectory({ TURNLOG_DATA: '' }), /turnlog/);
});

test.run();
