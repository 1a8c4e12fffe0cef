import type { Envelope, TurnlogError } from '@turnlog/events';
import type { LogLimits } from './limits.ts';
import type { PreparedAppend } from './prepare-append.ts';

export interface AppendResult {
  /** The events in order, without the parts that went before large ones. */
  events: Envelope[];
  /** The last event's seq; the log's head where the append held no event. */
  seq: number;
  /** The stream's revision after the append; of a duplicate, after the first one. */
  revision: number;
  /** Everything was there already, by its ids. */
  duplicate: boolean;
}

/** An append and its caller, who waits for the answer. */
export interface QueuedAppend extends PreparedAppend {
  resolve(result: AppendResult): void;
  reject(error: TurnlogError): void;
}

/** An append that waits for room, not yet encoded. It answers its caller itself where it is refused. */
export type WaitingAppend = { prepare(): QueuedAppend | undefined; reject(error: TurnlogError): void };

/**
 * Appends in the order they came. Up to its limits they are held encoded; beyond, callers wait in line with
 * what they brought, so that the queue's own memory is bounded and whoever awaits his appends is slowed.
 */
export class AppendQueue {
  readonly #limits: LogLimits;
  #queued: QueuedAppend[] = [];
  #queuedBytes = 0;
  #waiting: WaitingAppend[] = [];

  constructor(limits: LogLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#queued.length === 0 && this.#waiting.length === 0;
  }

  add(append: WaitingAppend): void {
    if (this.#waiting.length > 0 || !this.#hasRoom()) this.#waiting.push(append);
    else this.#enter(append);
  }

  /** Takes the next group off the queue: at least one append where there is one. */
  take(): QueuedAppend[] {
    const { groupBytesMax, groupEventsMax } = this.#limits;
    let bytes = 0;
    let events = 0;
    let count = 0;
    for (const append of this.#queued) {
      bytes += append.bytes;
      events += append.events.length;
      if (count > 0 && (bytes > groupBytesMax || events > groupEventsMax)) break;
      count += 1;
    }
    const group = this.#queued.splice(0, count);
    for (const append of group) this.#queuedBytes -= append.bytes;
    this.#admit();
    return group;
  }

  /** Refuses everything that waits. */
  rejectAll(error: TurnlogError): void {
    const refused = [...this.#queued, ...this.#waiting];
    this.#queued = [];
    this.#waiting = [];
    this.#queuedBytes = 0;
    for (const append of refused) append.reject(error);
  }

  #hasRoom(): boolean {
    return (
      this.#queuedBytes < this.#limits.queueBytesMax && this.#queued.length < this.#limits.queueAppendsMax
    );
  }

  #admit(): void {
    let admitted = 0;
    for (const append of this.#waiting) {
      if (!this.#hasRoom()) break;
      this.#enter(append);
      admitted += 1;
    }
    if (admitted > 0) this.#waiting.splice(0, admitted);
  }

  #enter(append: WaitingAppend): void {
    const prepared = append.prepare();
    if (prepared === undefined) return;
    this.#queued.push(prepared);
    this.#queuedBytes += prepared.bytes;
  }
}
