/** What an entry costs beside its key and its encoded value. */
const ENTRY_BYTES = 96;

interface Entry {
  value: unknown;
  bytes: number;
}

/**
 * Keeps what was read or written lately, within a number of bytes (measured as encoded). Two generations
 * stand in for an exact order of use: when the young one holds half of the bytes it becomes the old one,
 * and what was not used since then goes.
 */
export class RowCache {
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngBytes = 0;

  constructor(readonly bytesMax: number) {}

  get(key: string): unknown {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#insert(key, old);
    return old.value;
  }

  /** @param valueBytes the length of the encoded value */
  set(key: string, value: unknown, valueBytes: number): void {
    this.#insert(key, { value, bytes: key.length + valueBytes + ENTRY_BYTES });
  }

  #insert(key: string, entry: Entry): void {
    this.#youngBytes += entry.bytes - (this.#young.get(key)?.bytes ?? 0);
    this.#young.set(key, entry);
    if (this.#youngBytes * 2 <= this.bytesMax) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}
