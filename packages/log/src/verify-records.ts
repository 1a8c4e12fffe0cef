import { decodeRecord, type StoredEnvelope, TurnlogError } from '@turnlog/events';
import { entryOf } from './index-rows.ts';
import { PROBLEMS_MAX } from './limits.ts';
import { isPayloadPart } from './payload-parts.ts';
import type { RecordReader } from './record-reader.ts';
import { numberOf } from './seq-key.ts';
import type { Row } from './store.ts';
import type { StreamIndex } from './stream-index.ts';

export interface VerifyProblem {
  seq: number;
  /** The last seq of a stretch with the same problem. */
  through: number;
  /** `not_indexed`: the record is whole, and the index does not find it. */
  problem: 'missing' | 'damaged' | 'not_indexed';
  message: string;
}

export interface Verification {
  /** Records looked at that are whole. */
  events: number;
  /** The head up to which was looked. */
  through: number;
  /** The first of them, in the order of seqs. */
  problems: VerifyProblem[];
  problemsTotal: number;
}

export interface VerifyOptions {
  signal?: AbortSignal;
  /** Told from time to time how far it is. */
  onProgress?: (seq: number) => void;
}

/** What a verification looks at. */
export interface VerifyParts {
  reader: RecordReader;
  index: StreamIndex;
  head: number;
}

type Report = (problem: VerifyProblem) => void;

/**
 * Looks at every record up to the head: its checksum, its place, its content, that the data of large events is
 * whole, and that the index finds it. It goes on behind damage, so that one look names all of it.
 */
export async function verifyRecords(
  { reader, index, head }: VerifyParts,
  options: VerifyOptions,
): Promise<Verification> {
  const result: Verification = { events: 0, through: head, problems: [], problemsTotal: 0 };
  const report = (problem: VerifyProblem) => {
    result.problemsTotal += 1;
    if (result.problems.length < PROBLEMS_MAX) result.problems.push(problem);
  };
  let expected = 1;
  let isIndexed = true;
  for await (const rows of reader.rows({ from: 1, to: head })) {
    const whole: StoredEnvelope[] = [];
    for (const row of rows) expected = await verifyRow(reader, row, expected, whole, report);
    result.events += whole.length;
    const misses = await index.misses(whole.map(entryOf));
    for (const { seq } of misses) report(notIndexed(seq));
    isIndexed &&= misses.length === 0;
    options.onProgress?.(expected - 1);
    if (options.signal?.aborted) return { ...result, through: expected - 1 };
  }
  if (expected <= head) report(missing(expected, head));
  // Told last, for it has the index made anew.
  if (!isIndexed) index.damage('a verification has found events that it does not find');
  return result;
}

/** @returns the seq that is expected next */
async function verifyRow(
  reader: RecordReader,
  [key, value]: Row,
  expected: number,
  whole: StoredEnvelope[],
  report: Report,
): Promise<number> {
  const seq = numberOf(key);
  if (seq === undefined) {
    report(damaged(expected, `a key before event ${expected} is no seq`));
    return expected;
  }
  const stored = attempt(() => decodeRecord(seq, value));
  if (stored instanceof TurnlogError) {
    // Its key may be what is damaged: further on than expected, it is taken for the one that belongs here.
    report(damaged(Math.min(seq, expected), stored.message));
    return Math.max(expected, Math.min(seq, expected) + 1);
  }
  if (seq < expected) {
    report(damaged(seq, `event ${seq} is out of place`));
    return expected;
  }
  if (seq > expected) report(missing(expected, seq - 1));
  const problem = await contentProblem(reader, stored);
  if (problem === undefined) whole.push(stored);
  else report(damaged(seq, problem));
  return seq + 1;
}

/** Only what a checksum cannot tell is left to look at: whether a split event comes together again. */
async function contentProblem(reader: RecordReader, stored: StoredEnvelope): Promise<string | undefined> {
  if (stored.parts === undefined || isPayloadPart(stored)) return undefined;
  try {
    await reader.one(stored.seq);
    return undefined;
  } catch (error) {
    if (error instanceof TurnlogError && error.code === 'store_damaged') return error.message;
    throw error;
  }
}

function attempt(decode: () => StoredEnvelope): StoredEnvelope | TurnlogError {
  try {
    return decode();
  } catch (error) {
    if (error instanceof TurnlogError) return error;
    throw error;
  }
}

function missing(seq: number, through: number): VerifyProblem {
  const message = seq === through ? `event ${seq} is missing` : `events ${seq} to ${through} are missing`;
  return { seq, through, problem: 'missing', message };
}

function notIndexed(seq: number): VerifyProblem {
  return {
    seq,
    through: seq,
    problem: 'not_indexed',
    message: `the index, which is made anew, does not find event ${seq}`,
  };
}

function damaged(seq: number, message: string): VerifyProblem {
  return { seq, through: seq, problem: 'damaged', message };
}
