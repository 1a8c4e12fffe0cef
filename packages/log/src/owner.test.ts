import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeFileSystem } from './file-system.ts';
import { openLog } from './open-log.ts';
import { nodeProcessTable, readOwner } from './owner.ts';
import { failureOf, inDirectory } from './testing/directory.ts';

const clock = () => 1;
const bootId = 'boot-1';

test('owner: a held store says which process holds it', () =>
  inDirectory(async (directory) => {
    const log = await openLog({ directory, clock, bootId });
    const error = await failureOf(openLog({ directory, clock, bootId }));
    assert.is(error.code, 'store_locked');
    assert.is(error.details?.pid, process.pid);
    assert.is(error.details?.command, nodeProcessTable.command);
    assert.match(error.message, String(process.pid));
    assert.is((await log.append('a', [{ type: 't', data: 1 }])).seq, 1);
    await log.close();
    assert.is(await readOwner(nodeFileSystem, directory), undefined);
  }));

test('owner: a running process keeps the store also where its LOCK was removed', () =>
  inDirectory(async (directory) => {
    await (await openLog({ directory, clock, bootId })).close();
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      const pid = other.pid ?? 0;
      const processStart = await nodeProcessTable.startOf(pid);
      assert.ok(processStart);
      const owner = { pid, command: 'turnlog serve', since: 5, processStart, bootId };
      const path = join(directory, 'owner.json');

      await writeFile(path, JSON.stringify(owner));
      await rm(join(directory, 'log', 'LOCK'));
      const error = await failureOf(openLog({ directory, clock, bootId }));
      assert.equal([error.code, error.details?.pid], ['store_locked', pid]);
      assert.match(error.message, 'turnlog serve');

      // The pid of an earlier process, of an earlier boot, or of nobody holds nothing.
      for (const stale of [
        { ...owner, processStart: '1' },
        { ...owner, bootId: 'boot-0' },
        { ...owner, pid: 2 ** 30 },
      ]) {
        await writeFile(path, JSON.stringify(stale));
        await (await openLog({ directory, clock, bootId })).close();
      }
      await writeFile(path, '{"pid":');
      await (await openLog({ directory, clock, bootId })).close();
    } finally {
      other.kill('SIGKILL');
    }
  }));

test.run();
