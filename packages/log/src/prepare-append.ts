import { assertKey, decodeValue, type EventMeta, encodeValue, type NewEvent } from '@turnlog/events';
import { LogError } from './errors.ts';
import {
  APPEND_BYTES_MAX,
  APPEND_EVENTS_MAX,
  META_BYTES_MAX,
  STREAM_BYTES_MAX,
  TYPE_LENGTH_MAX,
} from './limits.ts';
import { PAYLOAD_PART } from './payload-parts.ts';

/** An event to append, of any type: the log knows none. */
export type AnyNewEvent = NewEvent<string, unknown>;

export interface AppendOptions {
  /** The revision that the stream must have; 0 for a stream that must be new. Any, where it is left out. */
  expectedRevision?: number;
}

/** An event whose data is encoded, waiting for its place. */
export interface PreparedEvent {
  id: string | undefined;
  type: string;
  v: number;
  meta: EventMeta;
  data: Buffer;
}

export interface PreparedAppend {
  stream: string;
  events: readonly PreparedEvent[];
  expectedRevision: number | undefined;
  /** The encoded data of all its events. */
  bytes: number;
}

const NO_META: EventMeta = Object.freeze({});

/**
 * Checks an append and encodes what does not depend on its place, so that little is left to do between two
 * batches and the queue knows its bytes.
 * @throws TurnlogError `invalid_argument`, `too_large`
 */
export function prepareAppend(
  stream: string,
  events: readonly AnyNewEvent[],
  { expectedRevision }: AppendOptions,
): PreparedAppend {
  assertStream(stream);
  if (events.length > APPEND_EVENTS_MAX) {
    throw new LogError(
      'too_large',
      `one append holds at most ${APPEND_EVENTS_MAX} events, not ${events.length}`,
    );
  }
  if (expectedRevision !== undefined) assertCount('expectedRevision', expectedRevision, 0);
  assertIds(events);
  let bytes = 0;
  const prepared = events.map((event) => {
    const each = prepareEvent(event);
    bytes += each.data.length;
    if (bytes > APPEND_BYTES_MAX) {
      throw new LogError('too_large', `one append holds at most ${APPEND_BYTES_MAX} bytes`, {
        bytesMax: APPEND_BYTES_MAX,
      });
    }
    return each;
  });
  return { stream, events: prepared, expectedRevision, bytes };
}

/** @throws LogError `invalid_argument`, naming the field */
export function assertCount(field: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw invalid(field, `must be a whole number from ${min} on`);
}

export function assertStream(stream: string): void {
  if (typeof stream !== 'string' || stream === '' || !stream.isWellFormed()) {
    throw invalid('stream', 'must be well-formed Unicode and not empty');
  }
  if (stream.length > STREAM_BYTES_MAX || Buffer.byteLength(stream) > STREAM_BYTES_MAX) {
    throw invalid('stream', `must be at most ${STREAM_BYTES_MAX} bytes long`);
  }
}

function prepareEvent({ id, type, v = 1, data, meta = NO_META }: AnyNewEvent): PreparedEvent {
  if (typeof type !== 'string' || type === '' || type.length > TYPE_LENGTH_MAX || type === PAYLOAD_PART) {
    throw invalid('type', `must be a name of at most ${TYPE_LENGTH_MAX} characters and not ${PAYLOAD_PART}`);
  }
  assertCount('v', v, 1);
  return { id, type, v, meta: meta === NO_META ? NO_META : storedMeta(meta), data: encodeValue(data) };
}

/** The meta as it will be read again, and not the caller's own object. */
function storedMeta(meta: EventMeta): EventMeta {
  const bytes = encodeValue(meta);
  if (bytes.length > META_BYTES_MAX) throw invalid('meta', `must be at most ${META_BYTES_MAX} bytes long`);
  return decodeValue(bytes) as EventMeta;
}

/**
 * All of an append's events have ids or none has. Only then does every retry tell whether it is one: of a
 * mixed append the log could find the events with ids again and not say whether the others are there.
 */
function assertIds(events: readonly AnyNewEvent[]): void {
  const ids = new Set<string>();
  for (const { id } of events) {
    if (id === undefined) continue;
    assertKey('id', id);
    if (id.startsWith('#')) throw invalid('id', 'must not begin with #');
    if (ids.has(id)) throw invalid('id', 'must not stand twice in one append');
    ids.add(id);
  }
  if (ids.size > 0 && ids.size < events.length)
    throw invalid('id', 'must be given for all events of an append or for none');
}

function invalid(field: string, what: string): LogError {
  return new LogError('invalid_argument', `${field} ${what}`, { field });
}
