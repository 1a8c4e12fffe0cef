import * as assert from 'uvu/assert';
import { PART_BYTES_MAX } from '../limits.ts';
import type { Log } from '../log.ts';
import { all, type ConformanceCheck, codeOf, said, seqs, textOf } from './conformance-support.ts';

/** Reading, following, what is too large for one record, closing and opening again. */
export function checkReads(check: ConformanceCheck): void {
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

  check('read: from beyond the head there is nothing, however far', async (log) => {
    await log.append('s', [{ type: 't', data: {} }]);
    for (const from of [2, 3, 1_000]) {
      for await (const { seq } of log.read({ from })) assert.unreachable(`event ${seq} from ${from}`);
    }
  });

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
}
