import { assert, type Envelope, type StoredEnvelope } from '@turnlog/events';
import { damagedAt } from './errors.ts';
import { PART_BYTES_MAX } from './limits.ts';

/*
 * Data too large for one record lies in `payload_part` records just before its event: same batch, same
 * stream, consecutive seqs and revisions. The event's own record says how many they are and has no data.
 *
 * A batch is atomic, so after a crash there is all of it or nothing.
 */

export const PAYLOAD_PART = 'payload_part';

/** What readers see of a part: that it is there, so that seqs have no gap. */
export interface PayloadPartStub {
  bytes: number;
}

export function isPayloadPart(envelope: Envelope): boolean {
  return envelope.type === PAYLOAD_PART;
}

/** Cuts encoded data into the parts that go before its event; none where it fits into the event's record. */
export function splitData(data: Buffer): Buffer[] {
  if (data.length <= PART_BYTES_MAX) return [];
  const parts: Buffer[] = [];
  for (let start = 0; start < data.length; start += PART_BYTES_MAX) {
    parts.push(data.subarray(start, start + PART_BYTES_MAX));
  }
  return parts;
}

export function joinParts(parts: readonly Buffer[]): Buffer {
  assert(parts.length > 0, 'split data has parts');
  return Buffer.concat(parts);
}

/**
 * The bytes of a part that must belong to `last`.
 * @throws LogError `store_damaged`
 */
export function partBytes(part: StoredEnvelope, last: StoredEnvelope): Buffer {
  const belongs = part.stream === last.stream && last.revision - part.revision === last.seq - part.seq;
  if (!isPayloadPart(part) || !belongs || !(part.data instanceof Uint8Array)) {
    throw damagedAt(part.seq, `event ${part.seq} is no part of event ${last.seq}`);
  }
  return Buffer.from(part.data.buffer, part.data.byteOffset, part.data.byteLength);
}

/** @throws LogError `store_damaged` where the record holds no bytes */
export function stubOf(part: StoredEnvelope): Envelope<typeof PAYLOAD_PART, PayloadPartStub> {
  if (!(part.data instanceof Uint8Array))
    throw damagedAt(part.seq, `event ${part.seq} is a part without bytes`);
  return { ...part, type: PAYLOAD_PART, data: { bytes: part.data.byteLength } };
}
