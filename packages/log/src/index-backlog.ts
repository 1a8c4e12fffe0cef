import type { IndexEntry } from './index-rows.ts';

interface CommittedGroup {
  entries: readonly IndexEntry[];
  revisions: ReadonlyMap<string, number>;
  ids: ReadonlyMap<string, number>;
}

/** Committed events that the index database does not hold yet; lookups see them here. */
export class IndexBacklog {
  #groups: CommittedGroup[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(entries: readonly IndexEntry[]): void {
    const revisions = new Map<string, number>();
    const ids = new Map<string, number>();
    for (const { seq, stream, revision, id } of entries) {
      revisions.set(stream, revision);
      if (id !== undefined) ids.set(id, seq);
    }
    this.#groups.push({ entries, revisions, ids });
    this.#size += entries.length;
  }

  /** All entries in order, and how to take them off once they are written. */
  peek(): { entries: IndexEntry[]; written(): void } {
    const groups = [...this.#groups];
    const entries = groups.flatMap((group) => group.entries);
    return {
      entries,
      written: () => {
        this.#groups = this.#groups.slice(groups.length);
        this.#size -= entries.length;
      },
    };
  }

  revisionOf(stream: string): number | undefined {
    for (let place = this.#groups.length - 1; place >= 0; place--) {
      const revision = this.#groups[place]?.revisions.get(stream);
      if (revision !== undefined) return revision;
    }
    return undefined;
  }

  seqOf(id: string): number | undefined {
    for (const { ids } of this.#groups) {
      const seq = ids.get(id);
      if (seq !== undefined) return seq;
    }
    return undefined;
  }

  /** Entries of one stream, in order. */
  of(stream: string): IndexEntry[] {
    return this.#groups.flatMap((group) =>
      group.revisions.has(stream) ? group.entries.filter((entry) => entry.stream === stream) : [],
    );
  }
}
