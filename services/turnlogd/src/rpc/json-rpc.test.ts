import { ERROR_CODES, type ErrorCode } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BATCH_REQUESTS_MAX, failure, parseFrame } from './json-rpc.ts';

const VALID = { jsonrpc: '2.0', id: 1, method: 'daemon.status', params: {} };

/** What a frame is answered before anything is done: the number and the id of each part. */
function refusalsOf(value: unknown): string[] {
  return parseFrame(typeof value === 'string' ? value : JSON.stringify(value)).parts.map((part) => {
    if ('request' in part) return 'request';
    assert.ok('error' in part.refusal);
    assert.is(part.refusal.error.data.code, 'invalid_argument');
    return `${part.refusal.error.code} ${JSON.stringify(part.refusal.id)}`;
  });
}

test('json-rpc: what is no JSON is a parse error', () => {
  for (const text of ['', '{', '{]', "{'a':1}", '\u0000', '[1,'])
    assert.equal(refusalsOf(text), ['-32700 null'], text);
});

test('json-rpc: what is no request is an invalid one', () => {
  for (const value of [1, 'x', null, true, [], {}, { ...VALID, id: undefined, jsonrpc: '1.0' }]) {
    assert.equal(refusalsOf(JSON.stringify(value)), ['-32600 null'], JSON.stringify(value));
  }
  assert.equal(refusalsOf({ ...VALID, method: 1 }), ['-32600 1']);
  assert.equal(refusalsOf({ ...VALID, jsonrpc: 2 }), ['-32600 1']);
  for (const id of [{}, [], true]) assert.equal(refusalsOf({ ...VALID, id }), ['-32600 null']);
});

test('json-rpc: parameters go by name', () => {
  for (const params of [[], [1], 'x', 1, null]) assert.equal(refusalsOf({ ...VALID, params }), ['-32602 1']);
  const [part] = parseFrame(JSON.stringify({ ...VALID, params: undefined })).parts;
  assert.equal(part, { request: { id: 1, method: 'daemon.status', parameters: {} } });
});

test('json-rpc: an id is given back as it came, a request without one is a notification', () => {
  for (const id of [0, -1, 1.5, '', 'x', null]) {
    const [part] = parseFrame(JSON.stringify({ ...VALID, id })).parts;
    assert.ok(part !== undefined && 'request' in part && part.request.id === id, String(id));
  }
  const [part] = parseFrame(JSON.stringify({ ...VALID, id: undefined })).parts;
  assert.ok(part !== undefined && 'request' in part && part.request.id === undefined);
});

test('json-rpc: a batch is as many requests, a long one is refused whole', () => {
  assert.equal(refusalsOf([VALID, 1, VALID]), ['request', '-32600 null', 'request']);
  assert.is(parseFrame(JSON.stringify([VALID])).isBatch, true);
  const batch = (length: number) => Array.from({ length }, () => VALID);
  assert.is(refusalsOf(batch(BATCH_REQUESTS_MAX)).length, BATCH_REQUESTS_MAX);
  assert.equal(refusalsOf(batch(BATCH_REQUESTS_MAX + 1)), ['-32600 null']);
});

test('json-rpc: every code has a number, and goes along with it', () => {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const response = failure(1, { code, message: 'm', details: { a: 1 } });
    assert.ok('error' in response);
    const { error } = response;
    assert.ok([-32_601, -32_602, -32_603, -32_000].includes(error.code), code);
    assert.equal(error.data, { code, message: 'm', details: { a: 1 } });
  }
});

test.run();
