import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FRAME_BYTES_MAX, FRAME_EVENTS_MAX, ReportQueue } from './report-queue.ts';
import { codeOf } from './testing/code-of.ts';

const fresh = { accepted: 0, durableThrough: 0 };

function queueOf(count: number, opened = fresh): ReportQueue {
  const queue = new ReportQueue(opened);
  for (let number = 1; number <= count; number += 1) queue.add(String(number), false);
  return queue;
}

test('frame: holds what was not accepted, under its number', () => {
  const queue = queueOf(3);
  assert.equal(queue.nextFrame(), { first: 1, events: ['1', '2', '3'] });
  queue.settle({ accepted: 2, durableThrough: 1 });
  assert.equal(queue.nextFrame(), { first: 3, events: ['3'] });
  assert.is(queue.size, 2);
  queue.settle({ accepted: 3, durableThrough: 3 });
  assert.is(queue.nextFrame(), undefined);
  assert.is(queue.bytes, 0);
});

test('frame: bounded by count, and by bytes where it holds more than one', () => {
  assert.is(queueOf(FRAME_EVENTS_MAX + 1).nextFrame()?.events.length, FRAME_EVENTS_MAX);
  const queue = new ReportQueue(fresh);
  const long = 'x'.repeat(FRAME_BYTES_MAX - 1);
  for (const text of [long, '1', '2', long]) queue.add(text, false);
  assert.equal(queue.nextFrame()?.events, [long, '1']);
  queue.settle({ accepted: 3, durableThrough: 3 });
  queue.settle({ accepted: 3, durableThrough: 3 });
  assert.equal(queue.nextFrame(), { first: 4, events: [long] });
});

test('restart: what the daemon had in memory only is sent again, with its numbers', () => {
  const queue = queueOf(5);
  queue.settle({ accepted: 5, durableThrough: 2 });
  assert.is(queue.nextFrame(), undefined);
  queue.settle({ accepted: 3 });
  assert.equal(queue.nextFrame(), { first: 4, events: ['4', '5'] });
});

test('attach: numbers go on after those of the host before', () => {
  const queue = queueOf(2, { accepted: 10, durableThrough: 8 });
  assert.equal(queue.nextFrame(), { first: 11, events: ['1', '2'] });
  queue.settle({ accepted: 12, durableThrough: 11 });
  assert.is(queue.durable, 1);
});

test('attach: where the last events of the host before went with the daemon, ours follow what is left', () => {
  const queue = queueOf(2, { accepted: 10, durableThrough: 8 });
  queue.settle({ accepted: 9 });
  assert.equal(queue.nextFrame(), { first: 10, events: ['1', '2'] });
  queue.settle({ accepted: 11, durableThrough: 11 });
  assert.is(queue.durable, 2);
});

test('end: what ends the bridge goes alone, when all before it is on disk', () => {
  const queue = queueOf(2);
  queue.add('end', true);
  assert.equal(queue.nextFrame(), { first: 1, events: ['1', '2'] });
  queue.settle({ accepted: 2, durableThrough: 1 });
  assert.is(queue.nextFrame(), undefined);
  queue.settle({ accepted: 2, durableThrough: 2 });
  assert.ok(queue.isAtLast);
  assert.equal(queue.nextFrame(), { first: 3, events: ['end'] });
});

test('settle: a daemon that lost what it said was on disk is found out', () => {
  const queue = queueOf(3);
  queue.settle({ accepted: 3, durableThrough: 3 });
  assert.is(
    codeOf(() => queue.settle({ accepted: 2, durableThrough: 2 })),
    'store_damaged',
  );
});

test('settle: more events than were reported come from somebody else', () => {
  assert.is(
    codeOf(() => queueOf(1).settle({ accepted: 2, durableThrough: 1 })),
    'not_owner',
  );
});

test.run();
