import { JSON_DEPTH_MAX, JsonText } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRows, TranscriptRow } from './identity.ts';

const identityOf = (value: unknown) => new TranscriptRow(JsonText.of(value)).identity;
const contentOf = (value: unknown) => new TranscriptRow(JsonText.of(value)).content;

function assertAlike(one: unknown, other: unknown): void {
  assert.is(identityOf(one), identityOf(other));
}

function assertUnlike(one: unknown, other: unknown): void {
  assert.is.not(identityOf(one), identityOf(other));
}

test('identity: the id before all else', () => {
  assertAlike({ id: 'a', kind: 'x', toolCallId: 'c' }, { id: 'a', kind: 'y', toolCallId: 'd' });
  assertUnlike({ id: 'a' }, { id: 'b' });
  assertUnlike({ id: 1 }, { id: '1' });
});

test('identity: the tool call within its kind, then the segment within its turn', () => {
  assertAlike(
    { kind: 'toolcall', toolCallId: 'c', status: 1 },
    { kind: 'toolcall', toolCallId: 'c', status: 2 },
  );
  assertUnlike({ kind: 'toolcall', toolCallId: 'c' }, { kind: 'result', toolCallId: 'c' });
  assertAlike({ kind: 'a', turnId: 't', segmentId: 's', x: 1 }, { kind: 'a', turnId: 't', segmentId: 's' });
  assertUnlike({ kind: 'a', turnId: 't', segmentId: 's' }, { kind: 'a', turnId: 'u', segmentId: 's' });
  assertUnlike({ kind: 'a', turnId: 't', x: 1 }, { kind: 'a', turnId: 't', x: 2 });
});

test('identity: an empty or missing name names nothing', () => {
  assertUnlike({ id: '', x: 1 }, { id: '', x: 2 });
  assertUnlike({ id: null, x: 1 }, { id: null, x: 2 });
  assertUnlike({ toolCallId: 'c', x: 1 }, { toolCallId: 'c', x: 2 });
  assertUnlike(JSON.parse('{"__proto__":{"id":"a"},"x":1}'), JSON.parse('{"__proto__":{"id":"a"},"x":2}'));
});

test('identity: without a name it is the content without its display time', () => {
  assertAlike({ text: 'a', time: '12:00' }, { text: 'a', time: '12:01', at: 3, timestamp: 4 });
  assertUnlike({ text: 'a', args: { time: 1 } }, { text: 'a', args: { time: 2 } });
  assertUnlike(JSON.parse('{"__proto__":1,"at":1}'), JSON.parse('{"__proto__":2,"at":1}'));
  assert.is.not(contentOf({ text: 'a', time: '12:00' }), contentOf({ text: 'a', time: '12:01' }));
  assertUnlike('a', 'b');
  assertUnlike([1], 1);
});

test('identity: a row nested too deep is refused, as a text and as a value', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const isRefused = (error: { code?: string }) => error.code === 'invalid_argument';
  readRows([new JsonText(nested(JSON_DEPTH_MAX)), JSON.stringify(nested(9000))]);
  assert.throws(() => readRows([new JsonText(nested(JSON_DEPTH_MAX + 1))]), isRefused);
  assert.throws(() => readRows([JSON.parse(nested(JSON_DEPTH_MAX + 1))]), isRefused);
  assert.throws(() => readRows([JSON.parse(nested(100_000))]), isRefused);
});

test.run();
