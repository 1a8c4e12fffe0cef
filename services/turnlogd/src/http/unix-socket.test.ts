import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { prepareSocketPath } from './unix-socket.ts';

interface Place {
  root: string;
  data: string;
  runtime: string;
  notices: string[];
  /** Where the socket may be, with this runtime directory. */
  prepare(runtimeDirectory?: string): Promise<string | undefined>;
  /** What it is called in a runtime directory. */
  name: string;
  listen(path: string): Promise<Server>;
}

async function withPlace(task: (place: Place) => Promise<void>): Promise<void> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'tl-')));
  const servers: Server[] = [];
  try {
    const data = join(root, 'data');
    const runtime = join(root, 'run');
    await mkdir(data, { mode: 0o700 });
    await mkdir(runtime, { mode: 0o700 });
    const notices: string[] = [];
    await task({
      root,
      data,
      runtime,
      notices,
      prepare: (runtimeDirectory) =>
        prepareSocketPath({ dataDirectory: data, runtimeDirectory, onNotice: (text) => notices.push(text) }),
      name: `${createHash('sha256').update(data).digest('hex').slice(0, 16)}.sock`,
      async listen(path) {
        const server = createServer();
        servers.push(server);
        await new Promise<void>((resolve) => server.listen(path, resolve));
        return server;
      },
    });
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    await rm(root, { recursive: true, force: true });
  }
}

test('socket: in a directory of its own within the runtime directory, named by the data directory', async () => {
  await withPlace(async ({ data, runtime, root, name, prepare, notices }) => {
    assert.is(await prepare(runtime), join(runtime, 'turnlog', name));
    assert.is((await stat(join(runtime, 'turnlog'))).mode & 0o777, 0o700);
    // Another way to the same directory is the same directory.
    await symlink(data, join(root, 'link'));
    const byLink = await prepareSocketPath({
      dataDirectory: join(root, 'link'),
      runtimeDirectory: runtime,
      onNotice: () => {},
    });
    assert.is(byLink, join(runtime, 'turnlog', name));
    assert.equal(notices, []);
  });
});

test('socket: without a runtime directory, or in one that is not fit, it is in the data directory', async () => {
  await withPlace(async ({ root, data, runtime, prepare, notices }) => {
    const inData = join(data, 'turnlog.sock');
    assert.is(await prepare(), inData);
    assert.equal(notices, []);
    assert.is(await prepare(join(root, 'missing')), inData);
    assert.is(await prepare('relative'), inData);
    await mkdir(join(runtime, 'turnlog'));
    await chmod(join(runtime, 'turnlog'), 0o777);
    assert.is(await prepare(runtime), inData);
    await rm(join(runtime, 'turnlog'), { recursive: true });
    await symlink(root, join(runtime, 'turnlog'));
    assert.is(await prepare(runtime), inData);
    await rm(join(runtime, 'turnlog'));
    await writeFile(join(runtime, 'turnlog'), '');
    assert.is(await prepare(runtime), inData);
    assert.is(notices.length, 5);
  });
});

test('socket: what a killed daemon left is taken away', async () => {
  await withPlace(async ({ root, runtime, name, listen, prepare }) => {
    const path = join(runtime, 'turnlog', name);
    assert.is(await prepare(runtime), path);
    // A socket that nobody listens at any more: a killed process leaves its own like that.
    const left = await listen(join(root, 'left'));
    await rename(join(root, 'left'), path);
    await new Promise((resolve) => left.close(resolve));
    assert.ok((await stat(path)).isSocket());
    assert.is(await prepare(runtime), path);
    assert.is(await stat(path).catch(({ code }) => code), 'ENOENT');
  });
});

test('socket: where somebody listens, or something else lies, nothing is taken away', async () => {
  await withPlace(async ({ data, runtime, name, listen, prepare, notices }) => {
    const path = join(runtime, 'turnlog', name);
    await prepare(runtime);
    await listen(path);
    assert.is(await prepare(runtime), join(data, 'turnlog.sock'));
    assert.ok((await stat(path)).isSocket());
    await writeFile(join(data, 'turnlog.sock'), 'mine');
    assert.is(await prepare(runtime), undefined);
    assert.is((await stat(join(data, 'turnlog.sock'))).size, 4);
    assert.match(notices.at(-1) ?? '', 'something else');
  });
});

test('socket: a path that is too long for the system is not tried', async () => {
  await withPlace(async ({ root, runtime, notices }) => {
    const deep = join(root, 'x'.repeat(100));
    await mkdir(deep);
    const options = { dataDirectory: deep, onNotice: (text: string) => notices.push(text) };
    assert.is(await prepareSocketPath({ ...options, runtimeDirectory: undefined }), undefined);
    assert.match(notices[0] ?? '', 'longer');
    assert.match((await prepareSocketPath({ ...options, runtimeDirectory: runtime })) ?? '', runtime);
  });
});

test.run();
