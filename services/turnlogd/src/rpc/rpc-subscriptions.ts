import type { SubscriptionName } from '@turnlog/events';
import { DaemonError } from '../errors.ts';
import { errorBodyOf } from '../operations/dispatcher.ts';
import type { SubscriberCount } from '../subscriber-count.ts';
import { notification } from './json-rpc.ts';
import type { Outbox } from './outbox.ts';

/** Opens what is followed; it ends with the signal. */
export type Open = (signal: AbortSignal) => AsyncIterable<unknown>;

/** What one connection follows. Each is pulled from only as far as the connection has room. */
export class RpcSubscriptions {
  readonly #outbox: Outbox;
  readonly #max: number;
  readonly #count: SubscriberCount;
  readonly #onFault: (error: unknown) => void;
  readonly #open = new Map<number, { name: SubscriptionName; controller: AbortController }>();
  #lastId = 0;

  constructor(outbox: Outbox, max: number, count: SubscriberCount, onFault: (error: unknown) => void) {
    this.#outbox = outbox;
    this.#max = max;
    this.#count = count;
    this.#onFault = onFault;
  }

  /**
   * Begins to follow; nothing is told before `start` is called.
   * @throws DaemonError `too_large` where too much is followed already, and what `open` throws
   */
  add(name: SubscriptionName, open: Open): { subscription: number; start(): void } {
    if (this.#open.size >= this.#max) {
      throw new DaemonError('too_large', `at most ${this.#max} subscriptions on one connection`);
    }
    const controller = new AbortController();
    const events = open(controller.signal);
    const release = this.#count.take();
    this.#lastId += 1;
    const subscription = this.#lastId;
    this.#open.set(subscription, { name, controller });
    return {
      subscription,
      start: () => {
        this.#follow(name, subscription, events, controller.signal)
          .catch(this.#onFault)
          .finally(() => {
            this.#open.delete(subscription);
            release();
          });
      },
    };
  }

  /** @throws DaemonError `invalid_argument` where nothing is followed under this id */
  remove(subscription: unknown): void {
    const found = typeof subscription === 'number' ? this.#open.get(subscription) : undefined;
    if (found === undefined) {
      throw new DaemonError('invalid_argument', 'parameters.subscription names no subscription', {
        field: 'parameters.subscription',
      });
    }
    found.controller.abort();
  }

  /** Ends all of them; each is told why where there is a reason. */
  end(reason?: DaemonError): void {
    for (const [subscription, { name, controller }] of this.#open) {
      if (reason !== undefined) this.#tell(name, subscription, { error: reason.toBody() });
      controller.abort();
    }
  }

  async #follow(
    name: SubscriptionName,
    subscription: number,
    events: AsyncIterable<unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      for await (const event of events) {
        await this.#outbox.room();
        if (signal.aborted) return;
        this.#tell(name, subscription, { event });
      }
    } catch (error) {
      if (signal.aborted) return;
      const body = errorBodyOf(error);
      this.#tell(name, subscription, { error: body });
      if (body.code === 'internal') throw error;
    }
  }

  #tell(name: SubscriptionName, subscription: number, what: object): void {
    this.#outbox.send(notification(name, { subscription, ...what }));
  }
}
