import type { Envelope } from '@turnlog/events';
import type { EventSource } from '../engine/source.ts';

/** A log in memory: what is appended is committed at once. */
export class MemorySource implements EventSource {
  readonly events: Envelope[] = [];
  readonly #listeners = new Set<() => void>();
  /** Events on a page that a reader gets. */
  pageEvents = 5;
  /** Thrown by the next reads while it is set. */
  readError: Error | undefined;

  head(): number {
    return this.events.length;
  }

  /** @param type of the catalogue; one that is not there is an event that no fold knows */
  append(data: unknown, type = 'turn_output'): number {
    const seq = this.events.length + 1;
    const stream = 'conversation:thread:test';
    this.events.push({ seq, id: `#${seq}`, stream, revision: seq, type, v: 1, at: 0, data, meta: {} });
    for (const listener of this.#listeners) listener();
    return seq;
  }

  async *readPages({ from, to }: { from: number; to: number }): AsyncGenerator<readonly Envelope[]> {
    for (let seq = from; seq <= to; seq += this.pageEvents) {
      if (this.readError !== undefined) throw this.readError;
      yield this.events.slice(seq - 1, Math.min(seq - 1 + this.pageEvents, to));
    }
  }

  onCommit(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
