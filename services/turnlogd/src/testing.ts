import { type BridgeState, evolve, type Fact, isFact } from '@turnlog/bridge';
import { assertEventData, type Envelope, initialMeter, type TurnlogError } from '@turnlog/events';
import { RecordedBridges } from './bridges/recorded-bridges.ts';
import type { Environment } from './environment.ts';
import { KeyedLock } from './keyed-lock.ts';

/** Time that passes only when a test says so. */
export class ManualEnvironment implements Environment {
  #now: number;
  #made = 0;
  readonly #tasks = new Set<{ at: number; task: () => void }>();

  constructor(startMs = 1_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, task: () => void): () => void {
    const waiting = { at: this.#now + delayMs, task };
    this.#tasks.add(waiting);
    return () => this.#tasks.delete(waiting);
  }

  newId = (): string => {
    this.#made += 1;
    return `id-${this.#made}`;
  };

  get waiting(): number {
    return this.#tasks.size;
  }

  /** Lets time pass, and what waited for it happen. */
  async pass(durationMs: number): Promise<void> {
    this.#now += durationMs;
    for (const waiting of [...this.#tasks]) {
      if (waiting.at > this.#now) continue;
      this.#tasks.delete(waiting);
      waiting.task();
    }
    await settle();
  }
}

/** Lets everything that needs no time come to its end. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Recorded bridges on a log in memory. */
export class BridgeBench {
  readonly environment = new ManualEnvironment();
  readonly failures: unknown[] = [];
  /** What the next append throws. */
  failNext: Error | undefined;
  records: Envelope[] = [];
  /** The next append is written, and fails all the same. */
  failAfterNext: Error | undefined;
  /** Why it cannot be known what became of an append that failed. */
  unsettled: TurnlogError | undefined;
  /** How often the state of a bridge was asked of the log. */
  statesRead = 0;
  inBackground: Promise<void> | undefined;
  readonly bridgesInMemoryMax: number;
  bridges: RecordedBridges;

  constructor({ bridgesInMemoryMax = 1_000 }: { bridgesInMemoryMax?: number } = {}) {
    this.bridgesInMemoryMax = bridgesInMemoryMax;
    this.bridges = this.#start([]);
  }

  /** What the log holds, shortened for comparison. */
  told(from = 1): string[] {
    return this.records.slice(from - 1).map(({ type, data }) => {
      const { bridgeId, turnId, text, prompt, reason } = data as Record<string, string>;
      return [type, bridgeId, turnId, prompt ?? text, reason].filter((part) => part !== undefined).join(' ');
    });
  }

  /** The daemon is killed, and another one starts on the same log. */
  restart(): void {
    this.bridges = this.#start(this.#openStates().filter(({ turn }) => turn !== undefined));
  }

  #start(inTurn: BridgeState[]): RecordedBridges {
    const openStates = () => this.#openStates();
    const bridges = new RecordedBridges({
      environment: this.environment,
      streams: new KeyedLock(),
      append: async (stream, facts) => this.#append(stream, facts),
      head: () => this.records.length,
      live: { during: (_stream, _before, append) => append(), show: () => {} },
      formerState: async (bridgeId) => {
        this.statesRead += 1;
        return this.#stateOf(bridgeId);
      },
      async *openStates(after = '') {
        yield openStates().filter(({ bridgeId }) => bridgeId > after);
      },
      countOpen: async () => openStates().length,
      unsettled: () => this.unsettled,
      meterOf: async () => initialMeter(),
      ownerToken: ({ bridgeId, since }) => `token of ${bridgeId} since ${since}`,
      onFailure: (error) => {
        this.failures.push(error);
      },
      bridgesInMemoryMax: this.bridgesInMemoryMax,
    });
    this.inBackground = bridges.restore(inTurn);
    return bridges;
  }

  #openStates(): BridgeState[] {
    const states = new Map<string, BridgeState>();
    for (const record of this.records) {
      if (!isFact(record)) continue;
      states.set(record.data.bridgeId, evolve(states.get(record.data.bridgeId), record));
    }
    return [...states.values()]
      .filter(({ lifecycle }) => lifecycle !== 'stopped')
      .sort((one, other) => (one.bridgeId < other.bridgeId ? -1 : 1));
  }

  #append(stream: string, facts: readonly Fact[]): Envelope[] {
    if (this.failNext !== undefined) {
      const error = this.failNext;
      this.failNext = undefined;
      throw error;
    }
    const appended = facts.map(({ type, data, meta }, index): Envelope => {
      assertEventData(type, data);
      const seq = this.records.length + index + 1;
      return {
        seq,
        id: `#${seq}`,
        stream,
        revision: seq,
        type,
        v: 1,
        at: this.environment.now(),
        data,
        meta: meta ?? {},
      };
    });
    this.records.push(...appended);
    if (this.failAfterNext !== undefined) {
      const error = this.failAfterNext;
      this.failAfterNext = undefined;
      throw error;
    }
    return appended;
  }

  #stateOf(bridgeId: string): BridgeState | undefined {
    let state: BridgeState | undefined;
    for (const record of this.records) {
      if (isFact(record) && record.data.bridgeId === bridgeId) state = evolve(state, record);
    }
    return state;
  }
}
