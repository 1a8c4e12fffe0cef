import type { Envelope } from '@turnlog/events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PART_BYTES_MAX } from './limits.ts';
import type { Log } from './log.ts';
import { openLog } from './open-log.ts';
import type { AnyNewEvent } from './prepare-append.ts';
import type { Store } from './store.ts';

/** A store under test and the directory for the files beside it. */
export interface ConformanceStore {
  store: Store;
  directory: string;
  /** Takes everything away. */
  remove(): Promise<void>;
}

/** What every store must let the log do. Registers and runs a uvu suite. */
export function testLogConformance(name: string, openStore: () => Promise<ConformanceStore>): void {
  const test = suite(name);

  /** Each test has a store of its own; `reopen` closes the log and opens what is there. */
  function check(title: string, run: (log: Log, reopen: () => Promise<Log>) => Promise<void>): void {
    test(title, async () => {
      const { store, directory, remove } = await openStore();
      const open = () => openLog({ directory, store, clock: () => 1_700_000_000_000, bootId: 'boot-1' });
      let log = await open();
      try {
        await run(log, async () => {
          await log.close();
          log = await open();
          return log;
        });
      } finally {
        await log.close();
        await remove();
      }
    });
  }

  check('append: events get the next seqs of the log and the next revisions of their stream', async (log) => {
    const first = await log.append('a', [said('1'), said('2')]);
    const second = await log.append('b', [said('3')]);
    const third = await log.append('a', [said('4')], { expectedRevision: 2 });
    assert.equal([first.seq, second.seq, third.seq], [2, 3, 4]);
    assert.equal([first.revision, second.revision, third.revision], [2, 1, 3]);
    assert.equal(first.events[1], {
      ...{ seq: 2, id: '#2', stream: 'a', revision: 2, type: 'said', v: 1 },
      ...{ at: 1_700_000_000_000, data: { text: '2' }, meta: {} },
    });
    assert.equal(await all(log.read()), [...first.events, ...second.events, ...third.events]);
  });

  check('append: no events is an answer, too, and checks the revision', async (log) => {
    await log.append('a', [said('1')]);
    assert.equal(await log.append('a', []), { events: [], seq: 1, revision: 1, duplicate: false });
    assert.is(await codeOf(log.append('a', [], { expectedRevision: 0 })), 'revision_conflict');
  });

  check('revision: of many appends that expect the same one, one succeeds', async (log) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, place) => log.append('a', [said(`${place}`)], { expectedRevision: 0 })),
    );
    assert.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.is(log.head(), 1);
    const error = await failure(log.append('a', [said('x')], { expectedRevision: 5 }));
    assert.is(error.code, 'revision_conflict');
    assert.equal(error.details, { stream: 'a', expected: 5, actual: 1 });
  });

  check('id: the same event again gives the first result, in the group and after it', async (log, reopen) => {
    const event = { ...said('once'), id: 'event-1' };
    const [first, again] = await Promise.all([
      log.append('a', [event], { expectedRevision: 0 }),
      log.append('a', [event], { expectedRevision: 0 }),
    ]);
    await log.append('a', [said('between')]);
    const later = await log.append('a', [event], { expectedRevision: 0 });
    const reopened = await (await reopen()).append('a', [event]);
    for (const duplicate of [again, later, reopened]) {
      assert.equal(duplicate, { ...first, duplicate: true });
    }
    assert.not(first.duplicate);
  });

  check('id: another body, stream, type or version is a conflict', async (log) => {
    const event = { ...said('once'), id: 'event-1' };
    await log.append('a', [event]);
    const others: [string, AnyNewEvent][] = [
      ['b', event],
      ['a', { ...event, data: { text: 'other' } }],
      ['a', { ...event, type: 'heard' }],
      ['a', { ...event, v: 2 }],
    ];
    for (const [stream, other] of others) {
      assert.is(await codeOf(log.append(stream, [other])), 'event_conflict');
    }
    assert.is(log.head(), 1);
  });

  check('id: an append that is there in part is a conflict', async (log) => {
    await log.append('a', [{ ...said('1'), id: 'one' }]);
    const both = [
      { ...said('1'), id: 'one' },
      { ...said('2'), id: 'two' },
    ];
    assert.is(await codeOf(log.append('a', both)), 'event_conflict');
    assert.is(log.head(), 1);
    assert.is(await codeOf(log.append('a', [both[0] ?? said(''), said('2')])), 'invalid_argument');
  });

  check('append: what cannot be stored is refused and nothing of its append is written', async (log) => {
    const refused: [string, AnyNewEvent[]][] = [
      ['', [said('1')]],
      ['\uD800', [said('1')]],
      ['a', [{ ...said('1'), id: '#1' }]],
      ['a', [said('1'), { type: 'payload_part', data: {} }]],
      ['a', [said('1'), { type: '', data: {} }]],
      ['a', [{ ...said('1'), v: 0 }]],
    ];
    for (const [stream, events] of refused) {
      assert.is(await codeOf(log.append(stream, events)), 'invalid_argument');
    }
    assert.is(await codeOf(log.append('a', [said('x'.repeat(64 * 1024 * 1024))])), 'too_large');
    assert.is(log.head(), 0);
  });

  check('read: a stretch, a limit, either direction', async (log) => {
    for (let place = 1; place <= 30; place++) await log.append(`s${place % 3}`, [said(`${place}`)]);
    assert.equal(await seqs(log.read({ from: 28 })), [28, 29, 30]);
    assert.equal(await seqs(log.read({ from: 5, to: 7 })), [5, 6, 7]);
    assert.equal(await seqs(log.read({ from: 5, limit: 2 })), [5, 6]);
    assert.equal(await seqs(log.read({ reverse: true, limit: 2 })), [30, 29]);
    assert.equal(await seqs(log.read({ from: 3, to: 5, reverse: true })), [5, 4, 3]);
    assert.equal(await seqs(log.read({ from: 31 })), []);
    assert.equal(await seqs(log.read({ limit: 0 })), []);
  });

  check(
    'stream: its events by revision, also right after the append and after reopening',
    async (log, reopen) => {
      await Promise.all(
        Array.from({ length: 200 }, (_, place) => log.append(`s${place % 2}`, [said(`${place}`)])),
      );
      const check = async (current: Log) => {
        const events = await all(current.readStream('s1', { from: 90, limit: 5 }));
        assert.equal(events.map(textOf), ['179', '181', '183', '185', '187']);
        assert.equal(
          events.map(({ revision }) => revision),
          [90, 91, 92, 93, 94],
        );
        assert.is((await all(current.readStream('s0'))).length, 100);
        assert.equal(await all(current.readStream('nobody')), []);
        assert.is(await current.revisionOf('s1'), 100);
      };
      await check(log);
      await check(await reopen());
    },
  );

  check('follow: catches up, goes on live and leaves nothing out', async (log) => {
    for (let place = 1; place <= 10; place++) await log.append('a', [said(`${place}`)]);
    const stop = new AbortController();
    const followers = [1, 8, 11, 40].map(async (from) => {
      const seen: number[] = [];
      for await (const { seq } of log.follow({ from, signal: stop.signal })) {
        seen.push(seq);
        if (seq === 60) break;
      }
      assert.equal(
        seen,
        Array.from({ length: 61 - from }, (_, place) => from + place),
      );
    });
    for (let place = 11; place <= 60; place++) await log.append(`s${place % 4}`, [said(`${place}`)]);
    await Promise.all(followers);
    const idle = all(log.follow({ from: 61, signal: stop.signal }));
    stop.abort();
    assert.equal(await idle, []);
  });

  check('listener: gets every committed event once, in order, before its caller is answered', async (log) => {
    const seen: number[] = [];
    const stop = log.onCommit((events) => seen.push(...events.map(({ seq }) => seq)));
    await Promise.all(
      Array.from({ length: 50 }, async (_, place) => {
        const { seq } = await log.append(`s${place % 5}`, [said(`${place}`)]);
        assert.ok(seen.includes(seq));
      }),
    );
    stop();
    await log.append('a', [said('unheard')]);
    assert.equal(
      seen,
      Array.from({ length: 50 }, (_, place) => place + 1),
    );
  });

  check(
    'large: data over a record comes back whole, with its parts as stubs before it',
    async (log, reopen) => {
      const text = 'long \u0000 \u{1F600} '.repeat(PART_BYTES_MAX / 4);
      await log.append('a', [said('before')]);
      const { events, seq, revision } = await log.append('a', [
        { ...said(text), id: 'large' },
        { ...said('after'), id: 'small' },
      ]);
      const parts = seq - 3;
      assert.ok(parts >= 3);
      assert.is(revision, seq);
      const check = async (current: Log) => {
        const read = await all(current.read());
        assert.equal(
          read.map((event) => event.seq),
          Array.from({ length: seq }, (_, place) => place + 1),
        );
        assert.equal(
          read.slice(1, 1 + parts).map(({ type }) => type),
          Array(parts).fill('payload_part'),
        );
        const [middle] = await all(current.read({ from: seq - 1, limit: 1 }));
        assert.equal(middle, events[0]);
        assert.ok(textOf(middle) === text);
        assert.equal((await all(current.readStream('a', { from: seq - 1 }))).length, 2);
        const last = (await all(current.read({ reverse: true, limit: 2 }))).at(-1);
        assert.ok(textOf(last) === text);
      };
      await check(log);
      await check(await reopen());
      const again = await (await reopen()).append('a', [
        { ...said(text), id: 'large' },
        { ...said('after'), id: 'small' },
      ]);
      assert.ok(again.duplicate && again.seq === seq);
    },
  );

  check('verify: a sound log has no problems', async (log) => {
    await Promise.all(Array.from({ length: 30 }, (_, place) => log.append('a', [said(`${place}`)])));
    assert.equal(await log.verify(), { events: 30, through: 30, problems: [], problemsTotal: 0 });
  });

  check('close: answers what was accepted, refuses what comes later, ends who follows', async (log) => {
    const following = all(log.follow({ from: 1 }));
    const accepted = Array.from({ length: 20 }, (_, place) => log.append('a', [said(`${place}`)]));
    const closed = log.close();
    assert.is(await codeOf(log.append('a', [said('late')])), 'store_closed');
    await closed;
    assert.is((await Promise.all(accepted)).length, 20);
    await following;
    assert.is(await codeOf(all(log.read())), 'store_closed');
  });

  check('reopen: everything is there, and seqs and revisions go on', async (log, reopen) => {
    await Promise.all(
      Array.from({ length: 100 }, (_, place) => log.append(`s${place % 7}`, [said(`${place}`)])),
    );
    const before = await all(log.read());
    const reopened = await reopen();
    assert.not(reopened.opening.indexRebuilt);
    assert.equal(await all(reopened.read()), before);
    const { seq, revision } = await reopened.append('s1', [said('next')]);
    assert.equal([seq, revision], [101, 16]);
  });

  test.run();
}

function said(text: string): AnyNewEvent {
  return { type: 'said', data: { text } };
}

function textOf(event: Envelope | undefined): string {
  return (event?.data as { text: string } | undefined)?.text ?? '';
}

async function seqs(events: AsyncIterable<Envelope>): Promise<number[]> {
  return (await all(events)).map(({ seq }) => seq);
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function codeOf(running: Promise<unknown>): Promise<string | undefined> {
  return (await failure(running)).code;
}

async function failure(running: Promise<unknown>): Promise<{ code?: string; details?: unknown }> {
  try {
    await running;
  } catch (error) {
    return error as { code?: string; details?: unknown };
  }
  throw new Error('expected a failure');
}
