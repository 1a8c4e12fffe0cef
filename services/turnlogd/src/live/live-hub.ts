import { liveEventsOf, structuralEventsOf } from '@turnlog/bridge';
import {
  type Envelope,
  type LiveEvent,
  type SubscriptionParameters,
  streamOf,
  upcast,
} from '@turnlog/events';
import type { Log } from '@turnlog/log';
import { LiveQueue } from './live-queue.ts';

/** Where the last facts of gathered deltas may lie: no group of appends is longer. */
const RECENT_RECORDS = 20_000;

/** Deltas that are accepted and not in the log yet. */
export interface PendingDelta {
  stream: string;
  event: LiveEvent & { bridgeId: string };
  /** The number of the last of them. */
  through: number;
}

interface Subscriber {
  queue: LiveQueue;
  wants(stream: string, event: LiveEvent): boolean;
}

/** What an append that is under way is told with. */
interface Staged {
  shownBefore: readonly (readonly LiveEvent[])[];
  /** How many of its facts are committed. */
  committed: number;
}

/**
 * Tells hosts what happens on bridges, in the order of the log. What the log does not hold (deltas, what is
 * only shown) is told in its place among the facts of the same call, when these are committed.
 */
export class LiveHub {
  readonly #log: Pick<Log, 'head' | 'read' | 'onCommit'>;
  readonly #subscribers = new Set<Subscriber>();
  readonly #staged = new Map<string, Staged>();
  readonly #pending: () => PendingDelta[];
  readonly #stopListening: () => void;

  /** @param pending the deltas that are gathered at the moment */
  constructor(log: Pick<Log, 'head' | 'read' | 'onCommit'>, pending: () => PendingDelta[]) {
    this.#log = log;
    this.#pending = pending;
    this.#stopListening = log.onCommit((events) => {
      for (const event of events) this.#committed(event);
    });
  }

  close(): void {
    this.#stopListening();
  }

  /** Tells at once what no fact holds. */
  show(stream: string, events: readonly LiveEvent[]): void {
    for (const event of events) this.#publish(stream, event);
  }

  /**
   * Tells what is only shown in its place among the facts of an append, as these are committed. One append
   * of a stream at a time.
   * @param shownBefore for each fact what comes before it
   */
  async during<Result>(
    stream: string,
    shownBefore: readonly (readonly LiveEvent[])[],
    append: () => Promise<Result>,
  ): Promise<Result> {
    this.#staged.set(stream, { shownBefore, committed: 0 });
    try {
      return await append();
    } finally {
      this.#staged.delete(stream);
    }
  }

  /** @throws DaemonError `too_slow` */
  async *subscribe(
    { from, bridgeId, conversationKey }: SubscriptionParameters<'live.subscribe'>,
    signal: AbortSignal,
  ): AsyncGenerator<LiveEvent, void, undefined> {
    const wanted = conversationKey === undefined ? undefined : streamOf.conversation(conversationKey);
    const subscriber: Subscriber = {
      queue: new LiveQueue(),
      wants: (stream, event) =>
        (bridgeId === undefined || event.bridgeId === bridgeId) &&
        (wanted === undefined || stream === wanted),
    };
    // At one moment: what is committed by now is read from the log, everything after it comes to the queue.
    const head = this.#log.head();
    const pending = from === undefined ? [] : this.#pending();
    this.#subscribers.add(subscriber);
    try {
      if (from !== undefined) yield* this.#history(subscriber, { from, head, pending }, signal);
      yield* subscriber.queue.read(signal);
    } finally {
      this.#subscribers.delete(subscriber);
    }
  }

  async *#history(
    { wants }: Subscriber,
    { from, head, pending }: { from: number; head: number; pending: PendingDelta[] },
    signal: AbortSignal,
  ): AsyncGenerator<LiveEvent, void, undefined> {
    const written = new Map<string, number>();
    const first = pending.length === 0 ? from : Math.min(from, Math.max(1, head - RECENT_RECORDS));
    for await (const record of first > head ? [] : this.#log.read({ from: first, to: head })) {
      if (signal.aborted) return;
      const { bridgeId, through } = record.meta;
      if (bridgeId !== undefined && through !== undefined) written.set(bridgeId, through);
      const known = record.seq < from ? undefined : upcast(record);
      if (known === undefined) continue;
      for (const event of liveEventsOf(known)) if (wants(record.stream, event)) yield event;
    }
    for (const { stream, event, through } of pending) {
      const isWritten = through <= (written.get(event.bridgeId) ?? 0);
      if (!isWritten && wants(stream, event)) yield event;
    }
  }

  #committed(record: Envelope): void {
    const known = upcast(record);
    if (known === undefined) return;
    const { stream } = known;
    const staged = this.#staged.get(stream);
    if (staged !== undefined) {
      this.show(stream, staged.shownBefore[staged.committed] ?? []);
      staged.committed += 1;
    }
    this.show(stream, structuralEventsOf(known));
  }

  #publish(stream: string, event: LiveEvent): void {
    for (const subscriber of this.#subscribers)
      if (subscriber.wants(stream, event)) subscriber.queue.push(event);
  }
}
