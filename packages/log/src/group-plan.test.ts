import { decodeRecord, encodeValue } from '@turnlog/events';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type GroupPlan, type Known, planGroup } from './group-plan.ts';
import type { PreparedAppend } from './prepare-append.ts';

/** given what the log holds, when appends come as one group, then this is planned */
function given(revisions: Record<string, number>, head: number, events: Known['events'] = new Map()) {
  const known: Known = { revisions: new Map(Object.entries(revisions)), events };
  return { when: (...appends: PreparedAppend[]): GroupPlan => planGroup(appends, known, head, 5) };
}

function append(stream: string, ids: (string | undefined)[], expectedRevision?: number): PreparedAppend {
  const events = ids.map((id) => ({ id, type: 'said', v: 1, meta: {}, data: encodeValue(id ?? 'text') }));
  return { stream, events, expectedRevision, bytes: 0 };
}

const kindsOf = ({ outcomes }: GroupPlan) =>
  outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.error.code : outcome.kind));

test('plan: an append sees those before it in its group', () => {
  const plan = given({ a: 7, b: 0 }, 20).when(
    append('a', [undefined, undefined], 7),
    append('a', [undefined], 7),
    append('b', [undefined], 0),
    append('a', [undefined], 9),
  );
  assert.equal(kindsOf(plan), ['accepted', 'revision_conflict', 'accepted', 'accepted']);
  assert.equal(
    plan.records.map(({ envelope: { seq, stream, revision } }) => [seq, stream, revision]),
    [
      [21, 'a', 8],
      [22, 'a', 9],
      [23, 'b', 1],
      [24, 'a', 10],
    ],
  );
  assert.equal(
    [...plan.revisions],
    [
      ['a', 10],
      ['b', 1],
    ],
  );
});

test('plan: the id is looked at before the revision', () => {
  const plan = given({ a: 0 }, 0).when(append('a', ['x'], 0), append('a', ['x'], 0), append('a', ['y'], 0));
  assert.equal(kindsOf(plan), ['accepted', 'duplicate', 'revision_conflict']);
  assert.is(plan.records.length, 1);
});

test('plan: a refused append takes no ids', () => {
  const plan = given({ a: 3 }, 3).when(append('a', ['x'], 0), append('a', ['x'], 3));
  assert.equal(kindsOf(plan), ['revision_conflict', 'accepted']);
});

test('plan: whatever comes, seqs and revisions have no gap and no id is taken twice', () => {
  const stream = fc.constantFrom('a', 'b', 'c');
  const ids = fc.uniqueArray(fc.constantFrom('u', 'v', 'w', 'x', 'y', 'z'), { maxLength: 3 });
  const anonymous = fc.array(fc.constant(undefined), { maxLength: 3 });
  const appends = fc.array(
    fc.tuple(stream, fc.oneof(ids, anonymous), fc.option(fc.nat({ max: 4 }), { nil: undefined })),
    { maxLength: 15 },
  );
  fc.assert(
    fc.property(appends, fc.nat({ max: 2 ** 40 }), (list, head) => {
      const revisions = { a: 0, b: 2, c: 5 };
      const plan = given(revisions, head).when(...list.map((each) => append(...each)));
      const reached = new Map(Object.entries(revisions));
      const taken = new Set<string>();
      for (const [place, { envelope, id, record }] of plan.records.entries()) {
        assert.is(envelope.seq, head + 1 + place);
        assert.is(envelope.revision, (reached.get(envelope.stream) ?? 0) + 1);
        reached.set(envelope.stream, envelope.revision);
        if (id !== undefined) assert.not(taken.has(id));
        if (id !== undefined) taken.add(id);
        assert.is(decodeRecord(envelope.seq, record).revision, envelope.revision);
      }
      assert.is(plan.outcomes.length, list.length);
    }),
  );
});

test.run();
