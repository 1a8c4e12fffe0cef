import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type FileSystem, nodeFileSystem, removeFileDurably, writeFileDurably } from './file-system.ts';
import { failureOf, inDirectory } from './testing/directory.ts';

function withRename(rename: FileSystem['rename']): FileSystem {
  return { ...nodeFileSystem, rename };
}

test('durable write: the file is replaced as a whole, with its mode', () =>
  inDirectory(async (directory) => {
    const path = join(directory, 'token');
    await writeFileDurably(nodeFileSystem, path, 'first', { mode: 0o600 });
    await writeFileDurably(nodeFileSystem, path, 'second', { mode: 0o600 });
    assert.is(await readFile(path, 'utf8'), 'second');
    assert.is((await stat(path)).mode & 0o777, 0o600);
    assert.equal(await readdir(directory), ['token']);
  }));

test('durable write: waits while another program holds the file', () =>
  inDirectory(async (directory) => {
    const path = join(directory, 'file');
    let attempts = 0;
    const held = withRename(async (from, to) => {
      attempts += 1;
      if (attempts < 3) throw Object.assign(new Error('held'), { code: 'EBUSY' });
      await nodeFileSystem.rename(from, to);
    });
    await writeFileDurably(held, path, 'text');
    assert.is(attempts, 3);
    assert.is(await readFile(path, 'utf8'), 'text');
  }));

test('durable write: a failure leaves the old file and no temporary one', () =>
  inDirectory(async (directory) => {
    const path = join(directory, 'file');
    await writeFile(path, 'old');
    const failing = withRename(async () => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    });
    assert.is((await failureOf(writeFileDurably(failing, path, 'new'))).code, 'ENOSPC');
    assert.is(await readFile(path, 'utf8'), 'old');
    assert.equal(await readdir(directory), ['file']);
  }));

test('durable removal: twice is once', () =>
  inDirectory(async (directory) => {
    const path = join(directory, 'file');
    await writeFile(path, 'text');
    await removeFileDurably(nodeFileSystem, path);
    await removeFileDurably(nodeFileSystem, path);
    assert.equal(await readdir(directory), []);
  }));

test.run();
