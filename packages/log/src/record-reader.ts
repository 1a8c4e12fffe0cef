import { decodeRecord, decodeValue, type Envelope, type StoredEnvelope } from '@turnlog/events';
import { damagedAt, missingAt, readErrorOf } from './errors.ts';
import { PAGE_BYTES, PAGE_RECORDS_MAX, PARTS_MAX } from './limits.ts';
import { isPayloadPart, joinParts, partBytes, stubOf } from './payload-parts.ts';
import { numberBytes, numberOf } from './seq-key.ts';
import type { Database, Row } from './store.ts';

/** A stretch of the log, both ends included. `reverse` changes the order, not the stretch. */
export interface SeqRange {
  from: number;
  to: number;
  reverse?: boolean;
}

/**
 * Reads records by iterator and asserts that none is missing: in a damaged table a `get` may miss what an
 * iterator sees, so a miss is never taken for an answer.
 */
export class RecordReader {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The events of a stretch that must all be there, in pages of about a megabyte.
   * @throws TurnlogError `store_damaged`, naming the seq; `store_closed`
   */
  async *pages(range: SeqRange): AsyncGenerator<Envelope[], void, undefined> {
    if (range.from > range.to) return;
    const step = range.reverse ? -1 : 1;
    let expected = range.reverse ? range.to : range.from;
    for await (const rows of this.rows(range)) {
      const page: Envelope[] = [];
      for (const [key, value] of rows) {
        if (numberOf(key) !== expected) throw missingAt(expected);
        const stored = decodeRecord(expected, value);
        page.push(stored.parts === undefined && !isPayloadPart(stored) ? stored : await this.#shown(stored));
        expected += step;
      }
      yield page;
    }
    const end = range.reverse ? range.from - 1 : range.to + 1;
    if (expected !== end) throw missingAt(expected);
  }

  /** Rows as they lie there, unchecked. The next page is fetched while one is worked on. */
  async *rows({ from, to, reverse = false }: SeqRange): AsyncGenerator<Row[], void, undefined> {
    if (from > to) return;
    const bounds = { gte: numberBytes(from), lte: numberBytes(to), reverse };
    const iterator = this.#database.iterator({ ...bounds, ...HIGH_WATER_MARK });
    try {
      let coming = iterator.nextv(PAGE_RECORDS_MAX);
      for (;;) {
        const rows = await coming;
        if (rows.length === 0) return;
        coming = iterator.nextv(PAGE_RECORDS_MAX);
        // Where the consumer stops early nobody awaits it; where he goes on he still gets the failure.
        coming.catch(() => undefined);
        yield rows;
      }
    } catch (error) {
      throw readErrorOf(error);
    } finally {
      await iterator.close();
    }
  }

  async one(seq: number): Promise<Envelope> {
    for await (const [envelope] of this.pages({ from: seq, to: seq })) {
      if (envelope !== undefined) return envelope;
    }
    throw missingAt(seq);
  }

  /** Events from all over the log, in the order asked for. */
  async many(seqs: readonly number[]): Promise<Envelope[]> {
    const values = await this.#database.getMany(seqs.map(numberBytes)).catch((error: unknown) => {
      throw readErrorOf(error);
    });
    return await Promise.all(
      seqs.map((seq, place) => {
        const value = values[place];
        return value === undefined ? this.one(seq) : this.#shown(decodeRecord(seq, value));
      }),
    );
  }

  /** The last key of the database, or undefined where it holds none. */
  async lastSeq(): Promise<number | undefined> {
    for await (const [key] of this.#database.iterator({ reverse: true, limit: 1 })) {
      const seq = numberOf(key);
      if (seq === undefined) throw damagedAt(0, 'the last key is no seq');
      return seq;
    }
    return undefined;
  }

  /** The event as its readers see it: a part as a stub, and what was split with its data again. */
  async #shown(stored: StoredEnvelope): Promise<Envelope> {
    if (isPayloadPart(stored)) return stubOf(stored);
    const { parts, ...envelope } = stored;
    if (parts === undefined) return envelope;
    return { ...envelope, data: decodeValue(await this.#joined(stored, parts)) };
  }

  async #joined(last: StoredEnvelope, parts: number): Promise<Buffer> {
    const first = last.seq - parts;
    if (!Number.isInteger(parts) || parts < 1 || parts > PARTS_MAX || first < 1) {
      throw damagedAt(last.seq, `event ${last.seq} has ${parts} parts`);
    }
    const chunks: Buffer[] = [];
    for await (const rows of this.rows({ from: first, to: last.seq - 1 })) {
      for (const [key, value] of rows) {
        const seq = first + chunks.length;
        if (numberOf(key) !== seq) throw missingAt(seq);
        chunks.push(partBytes(decodeRecord(seq, value), last));
      }
    }
    if (chunks.length !== parts) throw missingAt(first + chunks.length);
    return joinParts(chunks);
  }
}

/** Known to classic-level; an engine without it pages by count alone. */
const HIGH_WATER_MARK: object = { highWaterMarkBytes: PAGE_BYTES };
