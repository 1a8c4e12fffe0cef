import type { TurnlogError } from '@turnlog/events';
import { BoundedMap } from './bounded-map.ts';
import { isBroken, LogError, storeErrorOf } from './errors.ts';
import { IndexBacklog } from './index-backlog.ts';
import { IndexReader, PLACES_PER_PAGE, type StreamPlace } from './index-reader.ts';
import { headKey, type IndexEntry, idKey, nameBytes, rowsOf } from './index-rows.ts';
import type { LogLimits } from './limits.ts';
import { type Database, putRows } from './store.ts';

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
  readonly #rows: IndexReader;
  readonly #limits: LogLimits;
  /** What is being written, and what was committed since. */
  #leaving = new IndexBacklog();
  #backlog = new IndexBacklog();
  readonly #revisions: BoundedMap<string, number>;
  readonly #names: BoundedMap<string, Buffer>;
  #writing: Promise<void> | undefined;
  #onFailure: ((error: TurnlogError) => void) | undefined;
  #failed = false;
  #damaged = false;
  /** The last event whose rows are in the database. */
  #writtenSeq: number;

  constructor(database: Database, limits: LogLimits, writtenSeq: number) {
    this.#database = database;
    this.#rows = new IndexReader(database, (what) => this.damage(what));
    this.#limits = limits;
    this.#writtenSeq = writtenSeq;
    this.#revisions = new BoundedMap(limits.cachedStreamsMax);
    this.#names = new BoundedMap(limits.cachedStreamsMax);
  }

  /** @param listener told when a write fails or damage is found; nothing more is written then, and lookups go on */
  onFailure(listener: (error: TurnlogError) => void): void {
    this.#onFailure = listener;
  }

  /** Whether damage was found: then it is of no use any more, and is made anew at the next opening. */
  get isDamaged(): boolean {
    return this.#damaged;
  }

  /** Says that a row of the index is wrong or missing. @returns what its reader is told */
  damage(what: string, details: Record<string, unknown> = {}): LogError {
    this.#damaged = true;
    this.#failed = true;
    const error = new LogError('store_failed', `the index is damaged (${what}) and is made anew; try again`, {
      ...details,
      database: 'index',
    });
    this.#onFailure?.(error);
    return error;
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
    const values = await this.#rows.numbersOf(unknown.map(idKey));
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
    let last = fromRevision - 1;
    for await (const places of this.#rows.placesOf(this.#nameOf(stream), fromRevision)) {
      last = places.at(-1)?.revision ?? last;
      yield places;
    }
    const rest = unwritten.filter(({ revision }) => revision > last);
    for (let start = 0; start < rest.length; start += PLACES_PER_PAGE) {
      yield rest.slice(start, start + PLACES_PER_PAGE);
    }
  }

  /**
   * The place of one event of a stream, which must be there.
   * @throws LogError `store_failed` where the index is damaged
   */
  async placeOf(stream: string, revision: number): Promise<StreamPlace> {
    for await (const [place] of this.placesOf(stream, revision)) {
      if (place?.revision === revision) return place;
    }
    throw this.damage(`revision ${revision} of ${stream} is missing`, { stream, revision });
  }

  /**
   * Looks the events up that it must find by stream and by id. A lookup may miss what an iterator sees.
   * @returns those that are not found as they are, without the ones that are not written yet
   */
  async misses(entries: readonly IndexEntry[]): Promise<IndexEntry[]> {
    const written = entries.filter(({ seq }) => seq <= this.#writtenSeq);
    return await this.#rows.misses(written, (stream) => this.#nameOf(stream));
  }

  /** Remembers what was looked up. Only the one who commits may: for all others it may be old by now. */
  remember(revisions: ReadonlyMap<string, number>): void {
    for (const [stream, revision] of revisions) this.#revisions.set(stream, revision);
  }

  async #writeLeaving(): Promise<void> {
    try {
      const { entries } = this.#leaving;
      const rows = rowsOf(entries, (stream) => this.#nameOf(stream));
      await putRows(this.#database, rows, { synced: false });
      this.#writtenSeq = entries.at(-1)?.seq ?? this.#writtenSeq;
      this.#leaving = new IndexBacklog();
    } catch (error) {
      this.#failed = true;
      if (isBroken(error)) this.#damaged = true;
      this.#onFailure?.(storeErrorOf(error, 'writing the index'));
    }
  }

  #unwrittenRevisionOf(stream: string): number | undefined {
    return this.#backlog.revisionOf(stream) ?? this.#leaving.revisionOf(stream);
  }

  async #lookUpRevisions(unknown: string[], revisions: Map<string, number>): Promise<Map<string, number>> {
    const through = this.#writtenSeq;
    const values = await this.#rows.numbersOf(unknown.map((stream) => headKey(this.#nameOf(stream))));
    const lookUp = async (stream: string, place: number) => {
      revisions.set(stream, values[place] ?? (await this.#assertNoEvent(stream, through)));
    };
    await Promise.all(unknown.map(lookUp));
    return revisions;
  }

  /**
   * In a damaged table a lookup may miss what an iterator sees: a stream without a head must have no event.
   * @param through the last event that was written before the head was looked up
   */
  async #assertNoEvent(stream: string, through: number): Promise<0> {
    for await (const [place] of this.#rows.placesOf(this.#nameOf(stream), 1)) {
      if (place !== undefined && place.seq <= through) {
        throw this.damage(`the head of ${stream} is missing`, { stream });
      }
    }
    return 0;
  }

  #nameOf(stream: string): Buffer {
    const known = this.#names.get(stream);
    if (known !== undefined) return known;
    const name = nameBytes(stream);
    this.#names.set(stream, name);
    return name;
  }
}
