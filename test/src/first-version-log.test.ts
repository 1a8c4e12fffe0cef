/*
 * A log with one record of each event type as its first version was written, byte for byte. Records are never
 * rewritten, so it must be read for ever: a line of the fixture is never changed, a new type adds its own.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertEventData, catalogue, decodeRecord, encodeRecord, upcast } from '@turnlog/events';
import { classicStore, putRows } from '@turnlog/log';
import { CONTINUE_TEXT } from '@turnlog/projections';
import { openDaemon } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

interface Pinned {
  type: string;
  /** The stored bytes in hex; its place in the file is its seq. */
  record: string;
}

const fixture = new URL('../fixtures/first-version-log.json', import.meta.url);
const pinned = JSON.parse(await readFile(fixture, 'utf8')) as Pinned[];

test('first versions: every event type has a record', () => {
  const types = new Set(pinned.map(({ type }) => type));
  assert.equal(
    Object.keys(catalogue).filter((type) => !types.has(type)),
    [],
    'add a record of the new type, as it is written now, to the end of the fixture',
  );
});

test('first versions: each is decoded, brought up to date, and what the catalogue knows', () => {
  for (const [index, { type, record }] of pinned.entries()) {
    const stored = decodeRecord(index + 1, Buffer.from(record, 'hex'));
    assert.equal([stored.type, stored.v], [type, 1]);
    const event = upcast(stored);
    assert.ok(event, `${type} is in the catalogue`);
    if (event !== undefined) assertEventData(event.type, event.data);
    const { seq, id, ...head } = stored;
    const again = encodeRecord(seq, { ...head, ...(!id.startsWith('#') && { id }) });
    assert.is(again.toString('hex'), record, `${type} would be written as it was`);
  }
});

test('first versions: a log of them is opened, folded and read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-first-versions-'));
  try {
    await writeFile(join(directory, 'store.json'), '{"state":"ready","version":1}\n');
    const database = await classicStore(directory).open('log', 'create');
    const rows = pinned.map(({ record }, index): [Buffer, Buffer] => {
      const key = Buffer.alloc(8);
      key.writeUInt32BE(index + 1, 4);
      return [key, Buffer.from(record, 'hex')];
    });
    await putRows(database, rows, { synced: true });
    await database.close();

    const daemon = await openDaemon({ dataDirectory: directory });
    try {
      const { call } = daemon.dispatcher;
      const contents = async (conversationKey: string) =>
        (await call('conversation.load', { conversationKey })).messages.map(({ content }) => content);
      assert.is((await call('daemon.status', {})).seq, pinned.length);
      assert.equal(await contents('thread:first'), [
        ...[CONTINUE_TEXT, 'About logs.', 'And a tree?', 'Half of '],
      ]);
      const odd = 'a lone \uD800 surrogate, a NUL \0 and 😀';
      assert.equal(await contents('thread:old'), [odd, 'Yes.']);
      assert.equal(await contents('web:old'), [odd, 'Yes.', 'The packet.']);
      assert.equal(await call('session.get', { sessionKey: 'first:claude' }), { sessionId: 'S1' });
      assert.equal(await call('session.get', { sessionKey: 'imported:codex' }), {
        sessionId: 'S2',
        usage: { contextTokens: 50, contextWindow: 100, model: 'm2' },
      });
      const { messages } = await call('transcripts.load', { scopeId: 'scope-1' });
      assert.is(JSON.stringify(messages), '[{"kind":"agent","__proto__":1}]');
      assert.equal((await call('bridge.list', {})).bridges, []);
      const { projections } = await call('projections.rebuild', { check: true });
      assert.ok(projections.every(({ equal }) => equal));
    } finally {
      await daemon.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test.run();
