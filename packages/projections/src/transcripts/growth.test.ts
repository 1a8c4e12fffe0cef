import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { growthOf } from './growth.ts';

test('growth: texts that go on, fields and items that come to it', () => {
  assert.is(growthOf({ text: 'Hel' }, { text: 'Hello' }), 'grown');
  assert.is(
    growthOf({ args: { path: 'a' }, parts: ['x'] }, { args: { path: 'ab' }, parts: ['xy', 'z'] }),
    'grown',
  );
  assert.is(growthOf({ kind: 'a' }, { kind: 'a', result: 1 }), 'grown');
  assert.is(growthOf({ result: null }, { result: { a: 1 } }), 'grown');
});

test('growth: status and display time are not compared at the top, and below they are', () => {
  assert.is(growthOf({ status: 'pending', at: 1 }, { status: 'completed', time: '12:00' }), 'same');
  assert.is(growthOf({ args: { status: 'a' } }, { args: { status: 'b' } }), 'other');
});

test('growth: what is gone or another is none', () => {
  assert.is(growthOf({ text: 'Hello' }, { text: 'Hel' }), 'other');
  assert.is(growthOf({ text: 'a', more: 1 }, { text: 'ab' }), 'other');
  assert.is(growthOf({ count: 1 }, { count: 2 }), 'other');
  assert.is(growthOf({ parts: [1, 2] }, { parts: [1] }), 'other');
  assert.is(growthOf(['a'], { 0: 'a' }), 'other');
});

test('growth: what is nested beyond the limit is not compared', () => {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`);
  assert.is(growthOf(nested(100), nested(100)), 'same');
  assert.is(growthOf(nested(100_000), nested(100_000)), 'other');
});

test.run();
