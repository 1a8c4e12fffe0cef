import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveSettings } from './settings.ts';
import { withDirectory } from './testing/run-command.ts';

/** Settings with a configuration file of this content. */
async function withFile<Result>(
  content: string | object,
  task: (environment: Record<string, string>, directory: string) => Promise<Result>,
): Promise<Result> {
  return await withDirectory(async (directory) => {
    const file = join(directory, 'config.json');
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return await task({ TURNLOG_CONFIG: file }, directory);
  });
}

async function messageOf(task: Promise<unknown>): Promise<string> {
  return await task.then(
    () => assert.unreachable('it is refused') as never,
    (error: Error) => error.message,
  );
}

test('settings: a flag wins over the environment, that over the file, that over what is built in', async () => {
  await withFile({ host: 'localhost', port: 1, logLevel: 'info' }, async (environment) => {
    const settings = await resolveSettings(
      { port: 3 },
      { ...environment, TURNLOG_HOST: '::1', TURNLOG_PORT: '2', TURNLOG_DATA: '' },
    );
    const { file: _, ...values } = settings;
    assert.equal(Object.fromEntries(Object.entries(values).map(([name, { from }]) => [name, from])), {
      data: 'default',
      host: 'environment',
      port: 'flag',
      logLevel: 'file',
    });
    assert.is(settings.port.value, 3);
    assert.is(settings.host.value, '::1');
    assert.is(settings.host.name, 'TURNLOG_HOST');
    assert.is(settings.logLevel.name, environment.TURNLOG_CONFIG);
  });
});

test('settings: a path in the file is relative to the file, and ~ is the home', async () => {
  await withFile({ data: 'store' }, async (environment, directory) => {
    assert.is((await resolveSettings({}, environment)).data.value, join(directory, 'store'));
  });
  await withFile({ data: '~/store' }, async (environment) => {
    assert.is((await resolveSettings({}, environment)).data.value, join(homedir(), 'store'));
  });
});

test('settings: what is wrong is named, with the file or the variable', async () => {
  const cases: [string | object, RegExp][] = [
    [{ prot: 1 }, /config\.json: "prot" is no setting; the settings are data, host, port, logLevel/],
    ['{"__proto__": 1}', /"__proto__" is no setting/],
    [{ port: '1' }, /"port" must be a whole number from 0 to 65535; it is "1"/],
    [{ port: 65_536 }, /"port" must be/],
    [{ port: 1.5 }, /"port" must be/],
    [{ data: '' }, /"data" must be the path of a directory/],
    [{ logLevel: 'loud' }, /"logLevel" must be one of error, warn, info, debug/],
    [{ host: null }, /"host" must be an address/],
    ['{"port": 1', /is no JSON/],
    ['', /is no JSON/],
    ['[]', /must hold one JSON object/],
    [`"${'x'.repeat(70_000)}"`, /is over 65536 bytes/],
  ];
  for (const [content, expected] of cases) {
    await withFile(content, async (environment) => {
      assert.match(await messageOf(resolveSettings({}, environment)), expected);
    });
  }
  await withFile({}, async (environment) => {
    const message = await messageOf(resolveSettings({}, { ...environment, TURNLOG_PORT: 'http' }));
    assert.match(message, /TURNLOG_PORT must be a whole number from 0 to 65535; it is "http"/);
  });
});

test('settings: a file that is named must be there and be readable', async () => {
  await withDirectory(async (directory) => {
    const missing = join(directory, 'none.json');
    assert.match(await messageOf(resolveSettings({}, { TURNLOG_CONFIG: missing })), /there is no file/);
    const folder = join(directory, 'folder');
    await mkdir(folder);
    assert.match(
      await messageOf(resolveSettings({}, { TURNLOG_CONFIG: folder })),
      /cannot be read \(EISDIR\)/,
    );
  });
});

test.run();
