import * as assert from 'uvu/assert';
import type { AnyNewEvent } from '../prepare-append.ts';
import { all, type ConformanceCheck, codeOf, failure, said } from './conformance-support.ts';

/** Places, revisions and ids. */
export function checkAppends(check: ConformanceCheck): void {
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
}
