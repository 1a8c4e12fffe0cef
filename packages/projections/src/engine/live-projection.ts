import type { ProjectionError } from '../errors.ts';
import type { Projection } from './projection.ts';
import type { Slot } from './slot.ts';

interface Waiter {
  seq: number;
  resolve(): void;
  reject(error: ProjectionError): void;
}

/** A projection that follows the log, in whichever slot its rows are now. */
export class LiveProjection {
  slot: Slot;
  #waiters: Waiter[] = [];
  readonly #builtAt: number;

  /**
   * @param builtAt the head of the log at open: until the rows reach it they are of the past, and a file
   *   rendered from them would take away what the log still holds
   */
  constructor(slot: Slot, builtAt: number) {
    this.slot = slot;
    this.#builtAt = builtAt;
  }

  get projection(): Projection {
    return this.slot.projection;
  }

  /** Whether its rows are those of an earlier version, which it goes on with until its own are made. */
  get isRenewing(): boolean {
    return this.slot.version !== this.projection.version;
  }

  get built(): boolean {
    return this.slot.checkpoint >= this.#builtAt;
  }

  /** Settles once the rows hold the event `seq`; rejects when the engine fails or closes before. */
  reached(seq: number): Promise<void> {
    if (this.slot.checkpoint >= seq) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ seq, resolve, reject }));
  }

  advanced(): void {
    if (this.#waiters.length === 0) return;
    const { checkpoint } = this.slot;
    const waiting: Waiter[] = [];
    for (const waiter of this.#waiters) {
      if (waiter.seq <= checkpoint) waiter.resolve();
      else waiting.push(waiter);
    }
    this.#waiters = waiting;
  }

  failed(error: ProjectionError): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(error);
  }
}
