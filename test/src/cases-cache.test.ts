/*
 * A browser keeps a bounded copy of its transcripts. It may be older than what is stored, or longer; what is
 * stored decides, row by row, and a copy that is saved late brings nothing back.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, withHost } from './support/daemon-in-process.ts';

const SCOPE = 'scope-1';

interface Row {
  id: string;
  text: string;
}

const row = (id: string, text = id): Row => ({ id, text });

async function save(host: Host, rows: readonly Row[], base?: number): Promise<number> {
  const { seq } = await host.daemon.dispatcher.call('transcripts.save', {
    scopeId: SCOPE,
    messages: [...rows],
    ...(base !== undefined && { base }),
  });
  return seq;
}

async function idsIn(host: Host): Promise<string[]> {
  const { messages } = await host.daemon.dispatcher.call('transcripts.load', { scopeId: SCOPE });
  return (JSON.parse(JSON.stringify(messages)) as Row[]).map(({ id }) => id);
}

const CACHED = [row('m1', 'a'), row('m2', 'b'), row('m3', 'stale, was cleared')];

test('cache: a longer copy from before a clear brings nothing back, and loses nothing that came since', async () => {
  await withHost(async (host) => {
    const cachedAt = await save(host, CACHED);
    const clearedAt = await save(host, [row('m1', 'a')], cachedAt);
    await save(host, [row('m1', 'a'), row('m4', 'after clear')], clearedAt);
    await save(host, CACHED, cachedAt);
    assert.equal(await idsIn(host), ['m1', 'm4']);
    await host.restart();
    await save(host, CACHED, cachedAt);
    await save(host, [...CACHED, row('m5', 'typed while offline')], cachedAt);
    assert.equal(await idsIn(host), ['m1', 'm4', 'm5'], 'only what is new of it is taken');
  });
});

test('cache: a copy without the seq it was loaded at is merged by id, and brings no removed row back', async () => {
  await withHost(async (host) => {
    const cachedAt = await save(host, CACHED);
    await save(host, [row('m1', 'a')], cachedAt);
    await save(host, [row('m1', 'a'), row('m4', 'after clear')]);
    await save(host, CACHED);
    assert.equal(await idsIn(host), ['m1', 'm4']);
  });
});

test('cache: a transcript that was removed does not come back with a late copy', async () => {
  await withHost(async (host) => {
    const cachedAt = await save(host, CACHED);
    await host.daemon.dispatcher.call('transcripts.remove', { scopeId: SCOPE });
    await save(host, CACHED, cachedAt);
    assert.equal(await idsIn(host), []);
    const removedAt = host.daemon.log.head();
    await save(host, [row('m2', 'begun anew')], removedAt);
    assert.equal(await idsIn(host), ['m2'], 'what is written after the removal is new');
  });
});

test('cache: length says nothing of freshness: what is shorter and newer is what is kept', async () => {
  await withHost(async (host) => {
    const cachedAt = await save(host, [...CACHED, row('m4'), row('m5')]);
    await save(host, [row('m1', 'edited')], cachedAt);
    const { messages } = await host.daemon.dispatcher.call('transcripts.load', { scopeId: SCOPE });
    assert.equal(JSON.parse(JSON.stringify(messages)), [row('m1', 'edited')]);
  });
});

test('cache: a migration reads the stored transcript and no copy that lies beside it', async () => {
  await withHost(async (host) => {
    const source = join(dirname(host.dataDirectory), 'userdata');
    await mkdir(join(source, 'transcripts'), { recursive: true });
    const cache = JSON.stringify({ [`transcript:${SCOPE}`]: CACHED });
    await writeFile(join(source, 'localStorage.json'), cache);
    const stored = { scopeId: SCOPE, messages: [row('m1', 'a'), row('m4', 'after clear')] };
    await writeFile(
      join(source, 'transcripts/transcript.20fe66d09904df13ae74a9ea.json'),
      JSON.stringify(stored),
    );
    await host.daemon.dispatcher.call('migration.run', { directory: source });
    assert.equal(await idsIn(host), ['m1', 'm4']);
  });
});

test.run();
