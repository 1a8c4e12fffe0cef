import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogue, type EventType } from './catalogue/index.ts';
import type { Envelope } from './envelope.ts';
import { TurnlogError } from './errors.ts';
import { type UpcasterRegistry, upcast, upcastWith, versionOf } from './upcast.ts';

/** A type of which the text was renamed, and then told how it is written. */
const REGISTRY: UpcasterRegistry = {
  note_taken: [
    (data) => ({ text: (data as { words: string }).words }),
    (data) => ({ ...(data as object), format: 'plain' }),
  ],
};

function event(type: string, v: number, data: unknown): Envelope {
  return { seq: 7, id: '#7', stream: 's', revision: 1, type, v, at: 1, data, meta: { through: 3 } };
}

function refusalOf(task: () => unknown): TurnlogError {
  try {
    task();
  } catch (error) {
    assert.instance(error, TurnlogError);
    return error as TurnlogError;
  }
  throw new Error('expected a refusal');
}

test('upcast: an event takes every step from its version on, and keeps all but its data', () => {
  const current = event('note_taken', 3, { text: 'a', format: 'plain' });
  const first = event('note_taken', 1, { words: 'a' });
  assert.equal(upcastWith(REGISTRY, first), current);
  assert.equal(first.data, { words: 'a' }, 'what was given is left as it was');
  assert.equal(upcastWith(REGISTRY, event('note_taken', 2, { text: 'a' })), current);
  assert.is(upcastWith(REGISTRY, current), current);
});

test('upcast: a later version of a known type is refused, never misread', () => {
  for (const [registry, type, known] of [
    [REGISTRY, 'note_taken', 3],
    [{}, 'never_changed', 1],
    [REGISTRY, 'toString', 1],
  ] as const) {
    const { code, details } = refusalOf(() => upcastWith(registry, event(type, known + 1, {})));
    assert.is(code, 'store_version_unknown');
    assert.equal(details, { seq: 7, type, version: known + 1, known });
  }
});

test('upcast: every type of the catalogue is known at the version in which it is written', () => {
  for (const type of Object.keys(catalogue) as EventType[]) {
    const version = versionOf(type);
    const written = event(type, version, {});
    assert.is(upcast(written), written);
    assert.is(refusalOf(() => upcast(event(type, version + 1, {}))).code, 'store_version_unknown');
  }
});

test('upcast: a type that is not in the catalogue is none of ours', () => {
  assert.is(upcast(event('payload_part', 1, { bytes: 1 })), undefined);
  assert.is(upcast(event('of_a_later_turnlog', 5, {})), undefined);
});

test.run();
