import type { IndexEntry } from './index-rows.ts';

/** Committed events that the index database does not hold yet, in order; lookups see them here. */
export class IndexBacklog {
  readonly #entries: IndexEntry[] = [];
  readonly #revisions = new Map<string, number>();
  readonly #seqs = new Map<string, number>();

  get size(): number {
    return this.#entries.length;
  }

  add(entry: IndexEntry): void {
    this.#entries.push(entry);
    this.#revisions.set(entry.stream, entry.revision);
    if (entry.id !== undefined) this.#seqs.set(entry.id, entry.seq);
  }

  get entries(): readonly IndexEntry[] {
    return this.#entries;
  }

  revisionOf(stream: string): number | undefined {
    return this.#revisions.get(stream);
  }

  seqOf(id: string): number | undefined {
    return this.#seqs.get(id);
  }

  /** Entries of one stream. */
  of(stream: string): IndexEntry[] {
    return this.#revisions.has(stream) ? this.#entries.filter((entry) => entry.stream === stream) : [];
  }
}
