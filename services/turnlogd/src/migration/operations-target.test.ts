import { JsonText, type OperationName, TurnlogError } from '@turnlog/events';
import {
  clearedItem,
  conversationItem,
  type MigrationItem,
  sessionItem,
  transcriptItem,
} from '@turnlog/projections';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type CallOperation, MIGRATION_CALL_BYTES_MAX, operationsTarget } from './operations-target.ts';
import { itemOfWire, wireItemOf } from './wire-items.ts';

const conversation = (conversationKey: string, content = 'hello') =>
  conversationItem({ conversationKey, messages: [{ role: 'user', content }], setAside: [] });

/** A daemon that refuses items of some keys, and brings in all others. */
function fakeDaemon(refused: Record<string, 'too_large' | 'invalid_argument' | 'storage_full'> = {}) {
  const batches: string[][] = [];
  const call = async (name: OperationName, parameters: { items?: { key: string }[] }) => {
    assert.is(name, 'migration.import');
    const keys = (parameters.items ?? []).map(({ key }) => key);
    batches.push(keys);
    for (const key of keys) {
      const code = refused[key];
      if (code !== undefined) throw new TurnlogError(code, `not ${key}`);
    }
    return { placed: keys.map(() => ({ outcome: 'broughtIn', seq: 1 })), seq: 1 };
  };
  return { batches, target: operationsTarget(call as unknown as CallOperation) };
}

test('wire: every kind of item comes over JSON as it went', () => {
  const hostile = '\ud800"\u0000__proto__\u2028';
  const items: MigrationItem[] = [
    clearedItem('a'),
    clearedItem('b', 'b'),
    conversation('c', hostile),
    conversationItem({
      conversationKey: 'd',
      messages: [],
      setAside: [{ place: 3, row: JsonText.of(JSON.parse('{"__proto__":{"x":1},"1":2}')) }],
    }),
    sessionItem({ sessionKey: 'e', sessionId: hostile }),
    sessionItem({ sessionKey: 'f', usage: { contextTokens: 1.5, contextWindow: 2, model: 'm' } }),
    transcriptItem({
      scopeId: 'g',
      rows: [new JsonText('{"__proto__":1}'), new JsonText('{"id":"\\ud800"}')],
    }),
    transcriptItem({ scopeId: 'h', rows: [] }),
  ];
  for (const item of items) {
    assert.equal(itemOfWire(JSON.parse(JSON.stringify(wireItemOf(item)))), item);
  }
});

test('wire: content that is not what its id was made of is refused', () => {
  const wire = { ...wireItemOf(conversation('a')), messages: [{ role: 'user', content: 'other' }] };
  assert.throws(
    () => itemOfWire(wire as ReturnType<typeof wireItemOf>),
    (error: TurnlogError) => error.code === 'invalid_argument',
  );
});

test('target: what goes in one call is bounded, and an item that is larger goes alone', async () => {
  const { batches, target } = fakeDaemon();
  const large = 'x'.repeat(MIGRATION_CALL_BYTES_MAX);
  const items = [conversation('a'), conversation('b', large), conversation('c'), conversation('d')];
  const placed = await target.place(items, { dryRun: false });
  assert.equal(batches, [['a'], ['b'], ['c', 'd']]);
  assert.is(placed.length, 4);
});

test('target: an item that the daemon refuses does not keep the others of its call out', async () => {
  for (const code of ['too_large', 'invalid_argument'] as const) {
    const { target } = fakeDaemon({ b: code });
    const items = ['a', 'b', 'c'].map((key) => conversation(key));
    const placed = await target.place(items, { dryRun: false });
    assert.equal(
      placed.map(({ outcome, reason }) => reason ?? outcome),
      ['broughtIn', 'not b', 'broughtIn'],
    );
  }
});

test('target: what is not about one item ends the run', async () => {
  const { target } = fakeDaemon({ b: 'storage_full' });
  const error = await target.place([conversation('a'), conversation('b')], { dryRun: false }).then(
    () => assert.unreachable('it is refused') as never,
    (thrown: TurnlogError) => thrown,
  );
  assert.is(error.code, 'storage_full');
});

test.run();
