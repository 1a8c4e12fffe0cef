import { assert, type Envelope, encodeRecordOf, encodeValue, generatedId } from '@turnlog/events';
import { LogError } from './errors.ts';
import { RECORD_BYTES_MAX } from './limits.ts';
import { PAYLOAD_PART, splitData } from './payload-parts.ts';
import type { PreparedAppend, PreparedEvent } from './prepare-append.ts';

/*
 * Decides what becomes of the appends of one group: a pure function of the log as it is before the group.
 * Each append sees those before it in the group as if they were committed; they share one atomic batch.
 */

/** What the log holds that bears on a group. */
export interface Known {
  /** Of every stream of the group: its revision, 0 where it has no event. */
  revisions: ReadonlyMap<string, number>;
  /** Of every id of the group that the log holds: its event, and its data encoded. */
  events: ReadonlyMap<string, KnownEvent>;
}

export interface KnownEvent {
  envelope: Envelope;
  data: Buffer;
}

export interface PlannedRecord {
  /** As its readers will see it, its data still to be decoded from `data`. */
  envelope: Envelope;
  /** The id that its caller gave. */
  id: string | undefined;
  /** The event's encoded data; undefined for a part, whose stub is complete. */
  data: Buffer | undefined;
  record: Buffer;
}

export type Outcome =
  | { kind: 'accepted' | 'duplicate'; events: Envelope[]; revision: number }
  | { kind: 'refused'; error: LogError };

export interface GroupPlan {
  records: PlannedRecord[];
  /** One for each append, in order. */
  outcomes: Outcome[];
  /** The revision of every stream that the group moves. */
  revisions: Map<string, number>;
}

/**
 * @param head the seq of the last committed event
 * @param at the time to stamp, in milliseconds since 1970
 */
export function planGroup(
  appends: readonly PreparedAppend[],
  known: Known,
  head: number,
  at: number,
): GroupPlan {
  const planned = new Map<string, KnownEvent>();
  const plan: GroupPlan = { records: [], outcomes: [], revisions: new Map() };
  const eventOf = (id: string) => known.events.get(id) ?? planned.get(id);

  for (const append of appends) {
    const revision = plan.revisions.get(append.stream) ?? known.revisions.get(append.stream);
    assert(revision !== undefined, 'the revision of every stream of a group was looked up');
    const outcome = findDuplicate(append, eventOf) ?? findConflict(append, revision);
    plan.outcomes.push(outcome ?? accept(append, revision));
  }
  return plan;

  function accept({ stream, events }: PreparedAppend, before: number): Outcome {
    const accepted: Envelope[] = [];
    let revision = before;
    const place = () => {
      revision += 1;
      return { seq: head + plan.records.length + 1, stream, revision, at };
    };
    for (const event of events) {
      const parts = splitData(event.data);
      for (const part of parts) plan.records.push(partRecord(place(), part));
      const record = eventRecord(place(), event, parts.length);
      plan.records.push(record);
      accepted.push(record.envelope);
      if (event.id !== undefined) planned.set(event.id, { envelope: record.envelope, data: event.data });
    }
    if (revision > before) plan.revisions.set(stream, revision);
    return { kind: 'accepted', events: accepted, revision };
  }
}

/** Ids are looked at before the revision: whoever sends again expects the revision of the first time. */
function findDuplicate(
  { stream, events }: PreparedAppend,
  eventOf: (id: string) => KnownEvent | undefined,
): Outcome | undefined {
  const first = events.map(({ id }) => (id === undefined ? undefined : eventOf(id)));
  if (first.every((event) => event === undefined)) return undefined;

  const envelopes: Envelope[] = [];
  for (const [place, event] of events.entries()) {
    const before = first[place];
    if (before === undefined) return refusedId(event.id, 'is new, while others of the same append are not');
    if (!isSame(stream, event, before))
      return refusedId(event.id, `names another event (seq ${before.envelope.seq})`);
    envelopes.push(before.envelope);
  }
  return { kind: 'duplicate', events: envelopes, revision: envelopes.at(-1)?.revision ?? 0 };
}

function isSame(
  stream: string,
  { type, v, data }: PreparedEvent,
  { envelope, data: known }: KnownEvent,
): boolean {
  return envelope.stream === stream && envelope.type === type && envelope.v === v && known.equals(data);
}

function refusedId(id: string | undefined, what: string): Outcome {
  return { kind: 'refused', error: new LogError('event_conflict', `the id ${id} ${what}`, { id }) };
}

function findConflict({ stream, expectedRevision }: PreparedAppend, actual: number): Outcome | undefined {
  if (expectedRevision === undefined || expectedRevision === actual) return undefined;
  const details = { stream, expected: expectedRevision, actual };
  const message = `the stream is at revision ${actual}, not ${expectedRevision}`;
  return { kind: 'refused', error: new LogError('revision_conflict', message, details) };
}

type Place = Pick<Envelope, 'seq' | 'stream' | 'revision' | 'at'>;

function partRecord({ seq, stream, revision, at }: Place, part: Buffer): PlannedRecord {
  const head = { stream, revision, type: PAYLOAD_PART, v: 1, at, meta: {} };
  return {
    envelope: { seq, id: generatedId(seq), ...head, data: { bytes: part.length } },
    id: undefined,
    data: undefined,
    record: checkedRecord(encodeRecordOf(seq, head, encodeValue(part))),
  };
}

function eventRecord(
  { seq, stream, revision, at }: Place,
  event: PreparedEvent,
  parts: number,
): PlannedRecord {
  const { id, type, v, meta, data } = event;
  const head = { ...(id !== undefined && { id }), stream, revision, type, v, at, meta };
  const record =
    parts === 0 ? encodeRecordOf(seq, head, data) : encodeRecordOf(seq, { ...head, parts }, undefined);
  return {
    envelope: { seq, id: id ?? generatedId(seq), stream, revision, type, v, at, data: undefined, meta },
    id,
    data,
    record: checkedRecord(record),
  };
}

function checkedRecord(record: Buffer): Buffer {
  assert(record.length <= RECORD_BYTES_MAX, 'a record is within its limit');
  return record;
}
