/*
 * Transcripts as clients of CrewCode save them: whole arrays of rows that mostly carry no id, from
 * snapshots of different age, at every change.
 */
import type { Envelope, OperationResult } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, withHost } from './support/daemon-in-process.ts';

const SCOPE = 'ws::main/../"tab" 1';

type Row = Record<string, unknown>;

const user = (text: string, time = '10:00'): Row => ({ kind: 'user', text, time });
const agent = (text: string, turnId: string, time = '10:01'): Row => ({ kind: 'agent', text, turnId, time });
const tool = (toolCallId: string, status: string): Row => ({
  kind: 'toolcall',
  toolCallId,
  status,
  args: { path: 'a.ts' },
  time: '10:02',
});

/** A client with its own copy of the rows, and the seq that it loaded them at. */
class Client {
  rows: Row[] = [];
  base: number | undefined;

  constructor(readonly host: Host) {}

  async load(): Promise<Row[]> {
    const { messages, seq } = await this.host.daemon.dispatcher.call('transcripts.load', { scopeId: SCOPE });
    this.rows = JSON.parse(JSON.stringify(messages)) as Row[];
    this.base = seq;
    return this.rows;
  }

  async save(): Promise<OperationResult<'transcripts.save'>> {
    const saved = await this.host.daemon.dispatcher.call('transcripts.save', {
      scopeId: SCOPE,
      messages: this.rows,
      ...(this.base !== undefined && { base: this.base }),
    });
    if (saved.base !== undefined) this.base = saved.base;
    return saved;
  }
}

async function stored(host: Host): Promise<Row[]> {
  return await new Client(host).load();
}

test('rows: of every kind come back unchanged, in place and after a restart', async () => {
  await withHost(async (host) => {
    const client = new Client(host);
    client.rows = [
      { kind: 'system', text: 'provider switched', time: '12:00' },
      user('lone \ud800 surrogate, \u0000 and \u001b[31m'),
      { kind: 'thinking', text: 'hm', turnId: 't1', segmentId: 's1' },
      tool('c1', 'pending'),
      JSON.parse('{"kind":"agent","__proto__":{"polluted":true},"text":"x"}') as Row,
      { kind: 'compaction', summary: 'S', beforeTokens: 1, nested: { list: [1, null, 'x'] } },
      user('yes'),
      user('yes'),
    ];
    const expected = JSON.stringify(client.rows);
    await client.save();
    client.rows[3] = tool('c1', 'completed');
    await client.save();
    await host.restart();
    const back = await stored(host);
    assert.is(JSON.stringify(back), expected.replace('"pending"', '"completed"'));
    assert.is(({} as { polluted?: boolean }).polluted, undefined);
  });
});

test('two clients: rows of both stay, each in its place, and a stale copy sets nothing back', async () => {
  await withHost(async (host) => {
    const one = new Client(host);
    one.rows = [user('q1'), agent('a1', 't1'), tool('c1', 'pending')];
    await one.save();
    const two = new Client(host);
    await two.load();
    one.rows = [...one.rows.slice(0, 2), tool('c1', 'completed'), user('from one')];
    await one.save();
    two.rows.push(user('from two'));
    const saved = await two.save();
    assert.is(saved.base, undefined, 'the second client has not seen the row of the first');
    assert.equal(await stored(host), [
      user('q1'),
      agent('a1', 't1'),
      tool('c1', 'completed'),
      user('from one'),
      user('from two'),
    ]);
    two.rows = [...two.rows, user('again')];
    await two.save();
    assert.ok(
      (await stored(host)).some(({ text }) => text === 'from one'),
      'and still has not taken it away',
    );
  });
});

test('rewind: the tail is gone, and an old copy of it does not bring it back', async () => {
  await withHost(async (host) => {
    const one = new Client(host);
    one.rows = [user('q1'), agent('a1', 't1'), user('q2'), agent('a2', 't2')];
    await one.save();
    const late = new Client(host);
    await late.load();
    one.rows = one.rows.slice(0, 2);
    await one.save();
    assert.equal(await stored(host), [user('q1'), agent('a1', 't1')]);
    await late.save();
    assert.equal(await stored(host), [user('q1'), agent('a1', 't1')]);
    one.rows.push(user('q2', '11:11'));
    await one.save();
    assert.equal(
      await stored(host),
      [user('q1'), agent('a1', 't1'), user('q2', '11:11')],
      'a new one is a new one',
    );
  });
});

test('remove: a save that was on its way revives nothing, one that knows of the removal begins anew', async () => {
  await withHost(async (host) => {
    const one = new Client(host);
    one.rows = [user('q1')];
    await one.save();
    const late = new Client(host);
    await late.load();
    await host.daemon.dispatcher.call('transcripts.remove', { scopeId: SCOPE });
    late.rows.push(agent('a1', 't1'));
    assert.is((await late.save()).changed, false);
    assert.equal(await stored(host), []);
    await host.restart();
    assert.equal(await stored(host), []);
    await late.load();
    late.rows = [user('q1')];
    await late.save();
    assert.equal(await stored(host), [user('q1')]);
  });
});

test('base: a seq that the log does not have yet is refused', async () => {
  await withHost(async (host) => {
    const client = new Client(host);
    client.rows = [user('q1')];
    await client.save();
    const late = new Client(host);
    late.base = 999_999;
    await late.save().then(
      () => assert.unreachable('such a base was taken'),
      (error) => assert.is(error.code, 'invalid_argument'),
    );
    assert.equal(await stored(host), [user('q1')]);
  });
});

test('700 rows saved at every change: what is logged grows with the change', async () => {
  await withHost(async (host) => {
    const client = new Client(host);
    client.rows = Array.from({ length: 700 }, (_, index) => agent(`answer ${index}`.repeat(20), `t${index}`));
    await client.save();
    const { seq } = await client.save();
    for (let change = 0; change < 50; change += 1) {
      client.rows = [...client.rows.slice(0, -1), agent('growing '.repeat(change + 1), 't699')];
      await client.save();
    }
    const { events } = await host.daemon.dispatcher.call('log.read', { from: seq + 1, limit: 1_000 });
    assert.is(events.length, 50);
    const bytes = JSON.stringify(events).length;
    const array = JSON.stringify(client.rows).length;
    assert.ok(bytes < array, `${bytes} bytes were logged for 50 changes of one row of an array of ${array}`);
    for (const event of events as Envelope<string, { rows: unknown[]; removed: unknown[] }>[]) {
      assert.is(event.data.rows.length, 1);
      assert.is(event.data.removed.length, 0);
    }
    assert.equal(await stored(host), client.rows);
  });
});

test('batch: every entry is saved, and scopes of any name are kept apart', async () => {
  await withHost(async (host) => {
    const { dispatcher } = host.daemon;
    const scopes = [
      '__proto__',
      'constructor',
      '../../etc/passwd',
      'a\u0000b',
      '\u202eevil',
      'x'.repeat(4_000),
    ];
    const entries = scopes.map((scopeId) => ({ scopeId, messages: [user(scopeId)] }));
    assert.is((await dispatcher.call('transcripts.saveBatch', { entries })).changed, scopes.length);
    assert.is((await dispatcher.call('transcripts.saveBatch', { entries })).changed, 0);
    const { transcripts } = await dispatcher.call('transcripts.loadAll', {});
    assert.equal(Object.keys(transcripts).sort(), [...scopes].sort());
    for (const scopeId of scopes) {
      const { messages } = await dispatcher.call('transcripts.load', { scopeId });
      assert.is(JSON.stringify(messages), JSON.stringify([user(scopeId)]));
    }
    const { times } = await dispatcher.call('transcripts.mtimes', {});
    assert.is(Object.keys(times).length, scopes.length);
  });
});

test.run();
