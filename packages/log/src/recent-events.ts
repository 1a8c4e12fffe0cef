import type { Envelope } from '@turnlog/events';

interface RecentGroup {
  events: readonly Envelope[];
  bytes: number;
}

/**
 * The last committed groups, so that many who follow the head share what is in memory instead of each
 * reading it again. Whoever is further behind reads from the store.
 */
export class RecentEvents {
  readonly #bytesMax: number;
  readonly #eventsMax: number;
  #groups: RecentGroup[] = [];
  #bytes = 0;
  #events = 0;

  constructor(limits: { recentBytesMax: number; recentEventsMax: number }) {
    this.#bytesMax = limits.recentBytesMax;
    this.#eventsMax = limits.recentEventsMax;
  }

  add(events: readonly Envelope[], bytes: number): void {
    this.#groups.push({ events, bytes });
    this.#bytes += bytes;
    this.#events += events.length;
    while (this.#bytes > this.#bytesMax || this.#events > this.#eventsMax) {
      const oldest = this.#groups.shift();
      if (oldest === undefined) return;
      this.#bytes -= oldest.bytes;
      this.#events -= oldest.events.length;
    }
  }

  /** The events from a seq on, as far as its group goes; undefined where it is not held. */
  from(seq: number): readonly Envelope[] | undefined {
    for (const { events } of this.#groups) {
      const first = events[0]?.seq ?? 0;
      if (seq >= first && seq < first + events.length) return events.slice(seq - first);
    }
    return undefined;
  }
}
