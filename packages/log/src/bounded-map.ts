import { assert } from '@turnlog/events';

/**
 * A map that forgets what was long unused when it is full. It keeps two generations: whatever is used moves
 * to the young one, and when that is full the old one goes as a whole. That costs far less than keeping order.
 */
export class BoundedMap<Key, Value> {
  readonly #youngMax: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  constructor(sizeMax: number) {
    assert(sizeMax >= 2, 'a bounded map has room for two generations');
    this.#youngMax = Math.floor(sizeMax / 2);
  }

  get(key: Key): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#youngMax && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
