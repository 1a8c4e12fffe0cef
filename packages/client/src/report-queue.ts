/**
 * The events that a host has reported and that are not known to be on disk, in order. They are counted here
 * from 1; the daemon's number of an event is its count plus an offset, because a bridge may have had another
 * host before. Whatever happens to the daemon, an event keeps its number until it is on disk, so that the
 * daemon can tell a second sending from a second event. Nothing durable is ever sent again.
 */
import { assert } from '@turnlog/events';
import { ClientError } from './errors.ts';

/** The most events in one frame, and the most bytes where it holds more than one. */
export const FRAME_EVENTS_MAX = 1_000;
export const FRAME_BYTES_MAX = 192 * 1024;

/** What is sent at once. */
export interface Frame {
  /** The daemon's number of the first event; undefined where there is none. */
  first: number | undefined;
  /** The events as JSON. */
  events: string[];
}

interface Waiting {
  text: string;
  bytes: number;
  /** The bridge ends with it. */
  isLast: boolean;
}

export class ReportQueue {
  /** The events above `durable`. */
  #events: Waiting[] = [];
  #bytes = 0;
  #accepted = 0;
  #durable = 0;
  #offset: number;
  /** The daemon's own number up to which everything is on disk; it never goes back. */
  #durableNumber: number;

  /** @param opened where the daemon stood when the bridge was opened */
  constructor(opened: { accepted: number; durableThrough: number }) {
    this.#offset = opened.accepted;
    this.#durableNumber = opened.durableThrough;
  }

  /** How many events were ever added. */
  get reported(): number {
    return this.#durable + this.#events.length;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get durable(): number {
    return this.#durable;
  }

  get size(): number {
    return this.#events.length;
  }

  /** The bytes of what is kept, as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the one event that is left ends the bridge. */
  get isAtLast(): boolean {
    return this.#events.length === 1 && this.#events[0]?.isLast === true;
  }

  /** @param text the event as JSON */
  add(text: string, isLast: boolean): void {
    const bytes = Buffer.byteLength(text);
    this.#events.push({ text, bytes, isLast });
    this.#bytes += bytes;
  }

  /**
   * What to send next, of what the daemon has not accepted. An event that ends the bridge goes alone, when
   * all before it is on disk: should its answer be lost, nothing else can be in doubt.
   */
  nextFrame(): Frame | undefined {
    const events: string[] = [];
    const start = this.#accepted - this.#durable;
    let bytes = 0;
    for (let index = start; index < this.#events.length; index += 1) {
      const event = this.#events[index];
      assert(event !== undefined, 'the index is within the queue');
      if (event.isLast && index > 0) break;
      bytes += event.bytes;
      if (events.length === FRAME_EVENTS_MAX || (events.length > 0 && bytes > FRAME_BYTES_MAX)) break;
      events.push(event.text);
    }
    return events.length === 0 ? undefined : { first: this.#accepted + 1 + this.#offset, events };
  }

  /**
   * Takes the daemon's word on where it stands. After a restart it may have accepted less than before: what
   * it had only in memory is sent again.
   * @throws ClientError `store_damaged` where it no longer has what it said was on disk; `not_owner` where
   *   somebody else reports on the bridge
   */
  settle(answer: { accepted: number; durableThrough?: number }): void {
    const { accepted, durableThrough = this.#durableNumber } = answer;
    if (accepted < this.#durableNumber) {
      throw new ClientError(
        'store_damaged',
        `the daemon said that event ${this.#durableNumber} is on disk, and now has events up to ${accepted} only`,
        answer,
      );
    }
    // The host before this one lost its last events with the daemon: ours follow what is left.
    if (accepted < this.#offset && this.#durable === 0) this.#offset = accepted;
    if (accepted - this.#offset > this.reported) {
      throw new ClientError('not_owner', 'somebody else reports events on this bridge too', answer);
    }
    this.#accepted = accepted - this.#offset;
    this.#durableNumber = Math.max(this.#durableNumber, durableThrough);
    this.#drop(Math.max(0, this.#durableNumber - this.#offset));
    assert(this.#durable <= this.#accepted, 'what is on disk was accepted');
  }

  /** The event that ends the bridge was taken. */
  settleLast(): void {
    assert(this.isAtLast, 'only the end is left');
    this.#accepted = this.reported;
    this.#drop(this.reported);
  }

  #drop(durable: number): void {
    const dropped = this.#events.splice(0, durable - this.#durable);
    for (const { bytes } of dropped) this.#bytes -= bytes;
    this.#durable = durable;
  }
}
