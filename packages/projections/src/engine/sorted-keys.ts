import { compareKeys } from './physical-keys.ts';

/** A set of keys in the order of their bytes in UTF-8. */
export class SortedKeys {
  readonly #keys: string[];

  constructor(keys: Iterable<string>) {
    this.#keys = [...keys].sort(compareKeys);
  }

  /** Must not be there yet. */
  add(key: string): void {
    this.#keys.splice(this.#placeOf(key), 0, key);
  }

  /** The keys from `from` on and before `to`. */
  between(from: string, to: string): string[] {
    return this.#keys.slice(this.#placeOf(from), this.#placeOf(to));
  }

  #placeOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle] as string, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
