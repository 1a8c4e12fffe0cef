import { assert, decodeValue, type Envelope, encodeValue, type TurnlogError } from '@turnlog/events';
import { AppendQueue, type AppendResult, type QueuedAppend } from './append-queue.ts';
import { closedError, storeErrorOf } from './errors.ts';
import { type Known, type KnownEvent, type Outcome, type PlannedRecord, planGroup } from './group-plan.ts';
import type { LogLimits } from './limits.ts';
import { type AnyNewEvent, type AppendOptions, prepareAppend } from './prepare-append.ts';
import type { RecordReader } from './record-reader.ts';
import { numberBytes } from './seq-key.ts';
import { type Database, putRows, type Row } from './store.ts';
import type { StreamIndex } from './stream-index.ts';

/*
 * The one way into the log.
 *
 * While one synced batch is under way the next group gathers. Ids and revisions are checked when a group is
 * dispatched, after the batch before it has settled; head, revisions and listeners move, and callers are
 * answered, only when their batch is on disk. A crash leaves whole batches: all that was acknowledged, and
 * perhaps one that was not.
 *
 * After a failed batch nothing more is written through this handle, ever: LevelDB would take further synced
 * writes and lose them. What became of the failed batch is then unknown.
 */

export interface GroupCommitParts {
  database: Database;
  index: StreamIndex;
  reader: RecordReader;
  clock: () => number;
  limits: LogLimits;
  head: number;
  /** Called with each group once it is on disk, before its callers are answered. */
  onCommitted(events: readonly Envelope[], bytes: number): void;
  /** Called once, with why nothing more is written. */
  onFailed(error: TurnlogError): void;
}

export class GroupCommit {
  readonly #parts: GroupCommitParts;
  readonly #queue: AppendQueue;
  #head: number;
  #failure: TurnlogError | undefined;
  #isClosing = false;
  #running: Promise<void> | undefined;

  constructor(parts: GroupCommitParts) {
    this.#parts = parts;
    this.#queue = new AppendQueue(parts.limits);
    this.#head = parts.head;
    parts.index.onFailure((error) => this.fail(error));
  }

  /** The seq of the last committed event. */
  get head(): number {
    return this.#head;
  }

  append(stream: string, events: readonly AnyNewEvent[], options: AppendOptions): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      if (this.#isClosing) return reject(closedError());
      if (this.#failure !== undefined) return reject(this.#failure);
      // What this throws, the promise is rejected with.
      this.#queue.add(Object.assign(prepareAppend(stream, events, options), { resolve, reject }));
      this.#start();
    });
  }

  /** Ends writing for good: the first reason counts. What waits is refused with it. */
  fail(error: TurnlogError): void {
    if (this.#failure === undefined) {
      this.#failure = error;
      this.#parts.onFailed(error);
    }
    this.#queue.rejectAll(this.#failure);
  }

  /** Takes nothing more and resolves when everything that was taken is answered. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#running !== undefined) await this.#running;
    assert(this.#queue.isEmpty, 'everything accepted was answered');
  }

  #start(): void {
    if (this.#running !== undefined || this.#queue.isEmpty) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      this.#start();
    });
  }

  async #run(): Promise<void> {
    for (;;) {
      // Those whose answers just went out append again in this turn of the event loop: gather them all.
      await nextTurn();
      if (this.#queue.isEmpty) break;
      await this.#parts.index.room();
      const group = this.#queue.take();
      try {
        await this.#commit(group);
      } catch (cause) {
        const error = storeErrorOf(cause, 'appending to the log');
        for (const append of group) append.reject(error);
      }
    }
    this.#parts.index.write();
  }

  async #commit(group: readonly QueuedAppend[]): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const known = await this.#lookUp(group);
    const { records, outcomes } = planGroup(group, known, this.#head, this.#parts.clock());
    if (records.length > 0) {
      const written = this.#write(records);
      // The disk is at work meanwhile. Who follows the log gets the values that its readers get.
      const bytes = decodeAll(records);
      this.#parts.index.writeIfMuch();
      await written;
      this.#move(records, bytes);
    }
    for (const [place, append] of group.entries()) this.#answer(append, outcomes[place]);
  }

  async #write(records: readonly PlannedRecord[]): Promise<void> {
    try {
      const rows = records.map(({ envelope, record }): Row => [numberBytes(envelope.seq), record]);
      await putRows(this.#parts.database, rows, { synced: true });
    } catch (cause) {
      const error = storeErrorOf(cause, 'writing the log');
      this.fail(error);
      throw error;
    }
  }

  #move(records: readonly PlannedRecord[], bytes: number): void {
    const events = records.map(({ envelope }) => envelope);
    assert(events[0]?.seq === this.#head + 1, 'seqs have no gap');
    this.#parts.index.commit(
      records.map(({ envelope: { seq, stream, revision }, id }) => ({ seq, stream, revision, id })),
    );
    this.#head += events.length;
    this.#parts.onCommitted(events, bytes);
  }

  #answer({ resolve, reject }: QueuedAppend, outcome: Outcome | undefined): void {
    assert(outcome !== undefined, 'every append has an outcome');
    if (outcome.kind === 'refused') {
      reject(outcome.error);
      return;
    }
    const { kind, events, revision } = outcome;
    resolve({ events, seq: events.at(-1)?.seq ?? this.#head, revision, duplicate: kind === 'duplicate' });
  }

  async #lookUp(group: readonly QueuedAppend[]): Promise<Known> {
    const { index, reader } = this.#parts;
    const found = index.revisionsOf(new Set(group.map(({ stream }) => stream)));
    const revisions = found instanceof Map ? found : await found;
    index.remember(revisions);

    const ids = group.flatMap(({ events }) => events.flatMap(({ id }) => (id === undefined ? [] : [id])));
    const events = new Map<string, KnownEvent>();
    if (ids.length > 0) {
      const seqs = await index.seqsOf(ids);
      for (const [id, seq] of seqs) {
        const envelope = await reader.one(seq);
        if (envelope.id !== id) throw index.damage(`it takes event ${seq} for that of another id`);
        events.set(id, { envelope, data: encodeValue(envelope.data) });
      }
    }
    return { revisions, events };
  }
}

/** Gives each event its data as it will be read again. @returns the size of all data, in bytes */
function decodeAll(records: readonly PlannedRecord[]): number {
  let bytes = 0;
  for (const { envelope, data } of records) {
    if (data === undefined) continue;
    envelope.data = decodeValue(data);
    bytes += data.length;
  }
  return bytes;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
