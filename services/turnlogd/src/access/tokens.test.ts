import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TurnlogError } from '@turnlog/events';
import { type FileSystem, nodeFileSystem } from '@turnlog/log';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Tokens } from './tokens.ts';

type Open = (fileSystem?: FileSystem) => Promise<Tokens>;

async function withTokens(task: (open: Open, path: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-tokens-'));
  const path = join(directory, 'tokens.json');
  try {
    await task(
      (fileSystem = nodeFileSystem) => Tokens.open({ fileSystem, path, ownToken: 'own', clock: () => 7 }),
      path,
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function codeOf(task: Promise<unknown>): Promise<string> {
  try {
    await task;
    return 'none';
  } catch (error) {
    return error instanceof TurnlogError ? error.code : String(error);
  }
}

test('tokens: the one of the directory opens everything, an unknown one nothing', async () => {
  await withTokens(async (open) => {
    const tokens = await open();
    assert.equal(tokens.callerOf('own'), { scope: 'local' });
    for (const unknown of ['', 'Own', 'own ', 'undefined', '__proto__']) {
      assert.is(tokens.callerOf(unknown), undefined, unknown);
    }
  });
});

test('tokens: one that was made opens its scope, after a restart too, and is kept as a hash only', async () => {
  await withTokens(async (open, path) => {
    const made = await (await open()).create({ scope: 'web', name: 'my "phone"' });
    assert.ok(made.token.length >= 43);
    const text = await readFile(path, 'utf8');
    assert.not.ok(text.includes(made.token));
    assert.is((await stat(path)).mode & 0o777, 0o600);
    const tokens = await open();
    assert.is(tokens.callerOf(made.token)?.scope, 'web');
    assert.equal(tokens.list(), [{ id: made.id, scope: 'web', name: 'my "phone"', createdAt: 7 }]);
    // What the file holds is not what opens.
    const { hash } = (JSON.parse(text) as { tokens: { hash: string }[] }).tokens[0] ?? { hash: '' };
    assert.is(tokens.callerOf(hash), undefined);
  });
});

test('tokens: a revoked one opens nothing any more, and who uses it is told', async () => {
  await withTokens(async (open) => {
    const tokens = await open();
    const made = await tokens.create({ scope: 'local' });
    const other = await tokens.create({ scope: 'web' });
    const caller = tokens.callerOf(made.token);
    assert.is(caller?.revoked?.aborted, false);
    assert.is((await tokens.revoke(made.id)).id, made.id);
    assert.is(caller?.revoked?.aborted, true);
    assert.is(tokens.callerOf(made.token), undefined);
    assert.is(tokens.callerOf(other.token)?.revoked?.aborted, false);
    assert.is(await codeOf(tokens.revoke(made.id)), 'token_not_found');
    assert.is((await open()).callerOf(made.token), undefined);
    assert.is((await open()).list().length, 1);
  });
});

test('tokens: made at once, all of them are there', async () => {
  await withTokens(async (open) => {
    const tokens = await open();
    await Promise.all(Array.from({ length: 20 }, () => tokens.create({ scope: 'web' })));
    assert.is(new Set((await open()).list().map(({ id }) => id)).size, 20);
  });
});

test('tokens: one that cannot be written does not open, one that cannot be taken away still does', async () => {
  await withTokens(async (open) => {
    let isFull = false;
    const full: FileSystem = {
      ...nodeFileSystem,
      rename: async (from, to) => {
        if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
        await nodeFileSystem.rename(from, to);
      },
    };
    const tokens = await open(full);
    const made = await tokens.create({ scope: 'web' });
    isFull = true;
    assert.is.not(await codeOf(tokens.create({ scope: 'web' })), 'none');
    assert.is.not(await codeOf(tokens.revoke(made.id)), 'none');
    assert.is(tokens.list().length, 1);
    assert.is(tokens.callerOf(made.token)?.revoked?.aborted, false);
    isFull = false;
    await tokens.revoke(made.id);
    assert.equal((await open()).list(), []);
  });
});

test('tokens: a damaged file is refused and not taken for an empty one', async () => {
  await withTokens(async (open, path) => {
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '{"tokens":[{}]}',
      '{"tokens":{}}',
      '{"tokens":[{"scope":"root"}]}',
    ]) {
      await writeFile(path, text);
      assert.is(await codeOf(open()), 'store_damaged', text);
    }
  });
});

test.run();
