import type { Envelope, TurnlogError } from '@turnlog/events';
import { LogError } from './errors.ts';
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

/**
 * Appends in the order they came, encoded. Whoever awaits his appends is slowed to the speed of the disk;
 * whoever does not is refused once the queue holds as many bytes, or as many appends, as it may.
 */
export class AppendQueue {
  readonly #limits: LogLimits;
  #queued: QueuedAppend[] = [];
  #bytes = 0;

  constructor(limits: LogLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#queued.length === 0;
  }

  /**
   * Takes an append. One alone is never too much, whatever its size.
   * @throws LogError `overloaded`
   */
  add(append: QueuedAppend): void {
    const { queueBytesMax, queueAppendsMax } = this.#limits;
    const isOver = this.#bytes + append.bytes > queueBytesMax || this.#queued.length >= queueAppendsMax;
    if (isOver && !this.isEmpty) {
      throw new LogError('overloaded', 'too many appends wait for the disk', {
        bytes: this.#bytes,
        bytesMax: queueBytesMax,
        appends: this.#queued.length,
        appendsMax: queueAppendsMax,
      });
    }
    this.#queued.push(append);
    this.#bytes += append.bytes;
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
    for (const append of group) this.#bytes -= append.bytes;
    return group;
  }

  /** Refuses everything that waits. */
  rejectAll(error: TurnlogError): void {
    const refused = this.#queued;
    this.#queued = [];
    this.#bytes = 0;
    for (const append of refused) append.reject(error);
  }
}
