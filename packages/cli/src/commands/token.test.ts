import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serve } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EXIT } from '../exit-codes.ts';
import { bothWays, turnlog, withDirectory } from '../testing/run-command.ts';

/** The HTTP status that a token is answered with by a daemon on the data. */
async function statusOf(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/v1/conversation.list`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  await response.text();
  return response.status;
}

test('token create: prints the token alone, once, and keeps no more than a hash', async () => {
  await bothWays(async (data) => {
    const made = await turnlog(['token', 'create', '--web', '--name', 'my\u001b[2J phone', '--data', data]);
    assert.is(made.exitCode, EXIT.ok, made.stderr);
    assert.match(made.stdout, /^[\w-]{43}\n$/);
    assert.match(made.stderr, /\(web\); it is shown this once/);
    assert.not.ok((await readFile(join(data, 'tokens.json'), 'utf8')).includes(made.stdout.trim()));
    const listed = await turnlog(['token', 'list', '--data', data]);
    assert.match(listed.stdout, /web .*my\\x1b\[2J phone/);
    assert.not.ok(listed.stdout.includes(made.stdout.trim()));
    assert.not.match(listed.stdout, '\u001b');
  });
});

test('token create: without --web it opens everything', async () => {
  await bothWays(async (data) => {
    const made = JSON.parse((await turnlog(['token', 'create', '--json', '--data', data])).stdout);
    assert.is(made.scope, 'local');
    assert.equal(Object.keys(made).sort(), ['createdAt', 'id', 'scope', 'token']);
  });
});

test('token revoke: by its id; one that is not there is refused', async () => {
  await bothWays(async (data) => {
    const { id } = JSON.parse((await turnlog(['token', 'create', '--json', '--data', data])).stdout);
    const revoked = await turnlog(['token', 'revoke', id, '--data', data]);
    assert.is(revoked.exitCode, EXIT.ok, revoked.stderr);
    assert.match(revoked.stdout, `token ${id} is revoked`);
    assert.match((await turnlog(['token', 'list', '--data', data])).stdout, /none but the one in the file/);
    const again = await turnlog(['token', 'revoke', id, '--data', data]);
    assert.is(again.exitCode, EXIT.failed);
    assert.match(again.stderr, /token_not_found/);
  });
});

test('token: one that was made before the first start is good then, until it is revoked', async () => {
  await withDirectory(async (directory) => {
    const data = join(directory, 'data');
    const made = JSON.parse((await turnlog(['token', 'create', '--web', '--json', '--data', data])).stdout);
    const running = await serve({ dataDirectory: data, port: 0 });
    try {
      assert.is(await statusOf(running.url, made.token), 200);
      await turnlog(['token', 'revoke', made.id, '--data', data]);
      assert.is(await statusOf(running.url, made.token), 401);
    } finally {
      await running.stop();
    }
  });
});

test.run();
