import { assert, type TurnlogError } from '@turnlog/events';
import { BoundedMap } from './bounded-map.ts';
import { LogError, readErrorOf, storeErrorOf } from './errors.ts';
import { IndexBacklog } from './index-backlog.ts';
import {
  eventKey,
  headKey,
  type IndexEntry,
  idKey,
  nameBytes,
  revisionOfEventKey,
  rowsOf,
} from './index-rows.ts';
import type { LogLimits } from './limits.ts';
import { numberOf } from './seq-key.ts';
import { type Database, putRows } from './store.ts';

/** Where an event of a stream lies. */
export type StreamPlace = Pick<IndexEntry, 'revision' | 'seq'>;

const PLACES_PER_PAGE = 32;

/** Many rows in one batch cost less each, and of each stream only the last head is written. */
const ENTRIES_PER_WRITE = 1024;

/**
 * Finds events by stream and by id.
 *
 * Its database is a projection of the log: rows are written after the log's batch, unsynced, the checkpoint
 * in the same batch as the rows it covers. What is committed and not written yet is seen all the same. After
 * a killed process it lags by a few events and is caught up; after lost writeback it is made anew.
 */
export class StreamIndex {
  readonly #database: Database;
  readonly #limits: LogLimits;
  /** What is being written, and what was committed since. */
  #leaving = new IndexBacklog();
  #backlog = new IndexBacklog();
  readonly #revisions: BoundedMap<string, number>;
  readonly #names: BoundedMap<string, Buffer>;
  #writing: Promise<void> | undefined;
  #onFailure: ((error: TurnlogError) => void) | undefined;
  #failed = false;

  constructor(database: Database, limits: LogLimits) {
    this.#database = database;
    this.#limits = limits;
    this.#revisions = new BoundedMap(limits.cachedStreamsMax);
    this.#names = new BoundedMap(limits.cachedStreamsMax);
  }

  /** @param listener told when a write fails; nothing more is written then, and lookups go on */
  onFailure(listener: (error: TurnlogError) => void): void {
    this.#onFailure = listener;
  }

  /** Takes in events that were just committed. They are found from now on. */
  commit(entries: readonly IndexEntry[]): void {
    for (const entry of entries) {
      this.#backlog.add(entry);
      this.#revisions.set(entry.stream, entry.revision);
    }
  }

  /** Begins to write if much is waiting: the time for it is while the disk works on the log. */
  writeIfMuch(): void {
    if (this.#backlog.size >= ENTRIES_PER_WRITE) this.write();
  }

  /** Begins to write what is waiting, unless a write is under way or has failed. */
  write(): void {
    if (this.#writing !== undefined || this.#failed || this.#backlog.size === 0) return;
    this.#leaving = this.#backlog;
    this.#backlog = new IndexBacklog();
    this.#writing = this.#writeLeaving().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when the backlog is within its limit: before that nothing more should be committed. */
  async room(): Promise<void> {
    if (this.#backlog.size > this.#limits.indexBacklogEventsMax) await this.settled();
  }

  /** Writes what is waiting. Resolves when nothing is, or writing has failed. */
  async settled(): Promise<void> {
    this.write();
    while (this.#writing !== undefined) {
      await this.#writing;
      this.write();
    }
  }

  /** Each stream's revision, 0 for one without events. At once where all are known. */
  revisionsOf(streams: ReadonlySet<string>): Map<string, number> | Promise<Map<string, number>> {
    const revisions = new Map<string, number>();
    const unknown: string[] = [];
    for (const stream of streams) {
      const known = this.#revisions.get(stream) ?? this.#unwrittenRevisionOf(stream);
      if (known === undefined) unknown.push(stream);
      else revisions.set(stream, known);
    }
    return unknown.length === 0 ? revisions : this.#lookUpRevisions(unknown, revisions);
  }

  /** The seq of each id that is known. */
  async seqsOf(ids: readonly string[]): Promise<Map<string, number>> {
    const seqs = new Map<string, number>();
    const unknown: string[] = [];
    for (const id of ids) {
      const seq = this.#backlog.seqOf(id) ?? this.#leaving.seqOf(id);
      if (seq === undefined) unknown.push(id);
      else seqs.set(id, seq);
    }
    const values = await this.#getMany(unknown.map(idKey));
    for (const [place, id] of unknown.entries()) {
      const seq = values[place];
      if (seq !== undefined) seqs.set(id, seq);
    }
    return seqs;
  }

  /** The places of a stream's events from a revision on, in pages; what is committed later is not awaited. */
  async *placesOf(stream: string, fromRevision: number): AsyncGenerator<StreamPlace[], void, undefined> {
    // Looked at first: whatever leaves the backlog after this is in the database before the iterator begins.
    const unwritten = [...this.#leaving.of(stream), ...this.#backlog.of(stream)];
    const name = this.#nameOf(stream);
    const bounds = { gte: eventKey(name, fromRevision), lte: eventKey(name, Number.MAX_SAFE_INTEGER) };
    let last = fromRevision - 1;
    const iterator = this.#database.iterator(bounds);
    try {
      for (;;) {
        const rows = await iterator.nextv(PLACES_PER_PAGE);
        if (rows.length === 0) break;
        const places = rows.map(([key, value]) => placeOf(key, value));
        last = places.at(-1)?.revision ?? last;
        yield places;
      }
    } catch (error) {
      throw readErrorOf(error);
    } finally {
      await iterator.close();
    }
    const rest = unwritten.filter(({ revision }) => revision > last);
    for (let start = 0; start < rest.length; start += PLACES_PER_PAGE) {
      yield rest.slice(start, start + PLACES_PER_PAGE);
    }
  }

  /**
   * The place of one event of a stream, which must be there.
   * @throws LogError `store_damaged`
   */
  async placeOf(stream: string, revision: number): Promise<StreamPlace> {
    for await (const [place] of this.placesOf(stream, revision)) {
      if (place?.revision === revision) return place;
    }
    throw new LogError('store_damaged', `the index has lost revision ${revision} of ${stream}`, {
      stream,
      revision,
    });
  }

  /** Remembers what was looked up. Only the one who commits may: for all others it may be old by now. */
  remember(revisions: ReadonlyMap<string, number>): void {
    for (const [stream, revision] of revisions) this.#revisions.set(stream, revision);
  }

  async #writeLeaving(): Promise<void> {
    try {
      const rows = rowsOf(this.#leaving.entries, (stream) => this.#nameOf(stream));
      await putRows(this.#database, rows, { synced: false });
      this.#leaving = new IndexBacklog();
    } catch (error) {
      this.#failed = true;
      this.#onFailure?.(storeErrorOf(error, 'writing the index'));
    }
  }

  #unwrittenRevisionOf(stream: string): number | undefined {
    return this.#backlog.revisionOf(stream) ?? this.#leaving.revisionOf(stream);
  }

  async #lookUpRevisions(unknown: string[], revisions: Map<string, number>): Promise<Map<string, number>> {
    const values = await this.#getMany(unknown.map((stream) => headKey(this.#nameOf(stream))));
    for (const [place, stream] of unknown.entries()) revisions.set(stream, values[place] ?? 0);
    return revisions;
  }

  async #getMany(keys: Buffer[]): Promise<(number | undefined)[]> {
    if (keys.length === 0) return [];
    const values = await this.#database.getMany(keys).catch((error: unknown) => {
      throw readErrorOf(error);
    });
    assert(values.length === keys.length, 'every key is answered');
    return values.map((value) => (value === undefined ? undefined : numberIn(value)));
  }

  #nameOf(stream: string): Buffer {
    const known = this.#names.get(stream);
    if (known !== undefined) return known;
    const name = nameBytes(stream);
    this.#names.set(stream, name);
    return name;
  }
}

function placeOf(key: Buffer, value: Buffer): StreamPlace {
  const revision = revisionOfEventKey(key);
  if (revision === undefined) throw damagedIndex();
  return { revision, seq: numberIn(value) };
}

function numberIn(value: Buffer): number {
  const number = numberOf(value);
  if (number === undefined) throw damagedIndex();
  return number;
}

function damagedIndex(): LogError {
  return new LogError(
    'store_damaged',
    'the index is damaged: a row holds no number. It can be deleted: it is made again',
  );
}
