import {
  advance,
  type BridgeState,
  decideStop,
  type Fact,
  GATHER_WINDOW_MS,
  type ReportOutcome,
  written,
} from '@turnlog/bridge';
import type { Envelope, MeterState } from '@turnlog/events';
import type { Environment } from '../environment.ts';
import type { KeyedLock } from '../keyed-lock.ts';
import type { LiveHub, PendingDelta } from '../live/live-hub.ts';
import { scheduleOf } from '../live/schedule.ts';
import { cancelWaits, type OpenBridge, stateOf, streamOfOpen } from './open-bridge.ts';
import { interruption, metaOfEnd, notOpen } from './recorded-bridge-rules.ts';

/** What the bridges need of the daemon. */
export interface BridgeDependencies {
  environment: Environment;
  /** One task at a time for each stream. */
  streams: KeyedLock;
  /** Appends facts, all or none, and answers their records. */
  append(stream: string, facts: readonly Fact[]): Promise<readonly Envelope[]>;
  head(): number;
  /** Told what happens, as it happens. */
  live: Pick<LiveHub, 'during' | 'show'>;
  /** The state of a bridge that the log knows, also of one that has stopped. */
  formerState(bridgeId: string): Promise<BridgeState | undefined>;
  meterOf(sessionKey: string): Promise<MeterState>;
  ownerToken(state: BridgeState): string;
  /** Told of a failure that no caller waits for. */
  onFailure(error: unknown): void;
  gatherWindowMs?: number;
  hostReturnMs?: number;
}

/** What is decided for a bridge: facts to append, and how it is once they are. */
type Decided = Pick<ReportOutcome, 'facts' | 'snapshot' | 'gathering'> &
  Partial<Pick<ReportOutcome, 'emitted'>>;

/**
 * The bridges that are open, and the one way in which they change: append, and only then memory. A bridge
 * that an append failed for is as it was, and its host sends again what was not acknowledged.
 */
export class OpenBridges {
  readonly #bridges = new Map<string, OpenBridge>();
  readonly #dependencies: BridgeDependencies;

  constructor(dependencies: BridgeDependencies) {
    this.#dependencies = dependencies;
  }

  get size(): number {
    return this.#bridges.size;
  }

  all(): OpenBridge[] {
    return [...this.#bridges.values()];
  }

  get(bridgeId: string): OpenBridge | undefined {
    return this.#bridges.get(bridgeId);
  }

  add(bridge: OpenBridge): void {
    this.#bridges.set(stateOf(bridge).bridgeId, bridge);
  }

  /**
   * Runs a task on an open bridge while nothing else happens in its stream.
   * @throws DaemonError `bridge_not_found`
   */
  async with<Result>(bridgeId: string, task: (bridge: OpenBridge) => Promise<Result>): Promise<Result> {
    const bridge = this.#bridges.get(bridgeId);
    if (bridge === undefined) throw notOpen(bridgeId);
    return await this.#dependencies.streams.run(streamOfOpen(bridge), async () => {
      if (!this.#isOpen(bridge)) throw notOpen(bridgeId);
      return await task(bridge);
    });
  }

  /** Appends what was decided, and the interruption of others before it; answers the bridge's own records. */
  async commit(
    bridge: OpenBridge,
    decided: Decided,
    interrupted: readonly OpenBridge[] = [],
  ): Promise<readonly Envelope[]> {
    const others = interrupted.map((other) => ({ other, facts: interruption(other, 'replaced') }));
    const earlier = others.flatMap(({ facts }) => facts);
    const facts = [...earlier, ...decided.facts];
    const stream = streamOfOpen(bridge);
    const { append, live } = this.#dependencies;
    const { before, after } = scheduleOf(decided.emitted ?? [], decided.facts.length, earlier.length);
    const records = facts.length === 0 ? [] : await live.during(stream, before, () => append(stream, facts));
    for (const { other, facts } of others) {
      other.snapshot = facts.reduce(advance, other.snapshot);
      other.gathering = undefined;
      cancelWaits(other);
    }
    bridge.snapshot = decided.snapshot;
    bridge.gathering = decided.gathering;
    // In the same moment as the gathering: who subscribes finds a delta there or is told it, never both.
    live.show(stream, after);
    this.#settle(bridge);
    return records.slice(earlier.length);
  }

  /** The other bridges of the conversation that have an open turn: a turn that begins ends theirs. */
  inTurnBeside(bridge: OpenBridge): OpenBridge[] {
    const stream = streamOfOpen(bridge);
    return this.all().filter(
      (other) => other !== bridge && stateOf(other).turn !== undefined && streamOfOpen(other) === stream,
    );
  }

  /** Ends a bridge; the answer is the seq of its end. */
  async end(bridge: OpenBridge, reason: 'requested' | 'replaced'): Promise<number> {
    const facts = decideStop(stateOf(bridge), bridge.gathering, { reason }, metaOfEnd(bridge));
    const records = await this.commit(bridge, applied(bridge, facts));
    return records.at(-1)?.seq ?? this.#dependencies.head();
  }

  /** Interrupts the turn of a bridge whose host did not return after a restart. */
  async abandon(bridge: OpenBridge): Promise<void> {
    await this.#dependencies.streams.run(streamOfOpen(bridge), async () => {
      if (bridge.cancelAbandonment === undefined || !this.#isOpen(bridge)) return;
      bridge.cancelAbandonment = undefined;
      await this.commit(bridge, applied(bridge, interruption(bridge, 'restart')));
    });
  }

  /** Writes what the bridge has gathered. */
  async flush(bridge: OpenBridge): Promise<void> {
    await this.#dependencies.streams.run(streamOfOpen(bridge), async () => {
      if (bridge.gathering === undefined || !this.#isOpen(bridge)) return;
      const { gathering, facts } = written(bridge.gathering, stateOf(bridge));
      await this.commit(bridge, { ...applied(bridge, facts), gathering });
    });
  }

  /** The deltas that are accepted and not in the log yet. */
  pendingDeltas(): PendingDelta[] {
    return this.all().flatMap((bridge): PendingDelta[] => {
      const { gathering } = bridge;
      if (gathering === undefined || gathering.pending === '') return [];
      const { turnId, channel, pending, through } = gathering;
      const { bridgeId } = stateOf(bridge);
      const event = { type: `${channel}_delta` as const, bridgeId, turnId, delta: pending };
      return [{ stream: streamOfOpen(bridge), event, through }];
    });
  }

  /** Does what nobody waits for; a failure is told all the same. */
  inBackground(task: Promise<void>): void {
    task.catch(this.#dependencies.onFailure);
  }

  #isOpen(bridge: OpenBridge): boolean {
    return this.#bridges.get(stateOf(bridge).bridgeId) === bridge;
  }

  /** After a commit: a stopped bridge leaves, and pending deltas get their time. */
  #settle(bridge: OpenBridge): void {
    const { lifecycle, bridgeId } = stateOf(bridge);
    const isPending = bridge.gathering !== undefined && bridge.gathering.pending !== '';
    if (lifecycle === 'stopped') {
      cancelWaits(bridge);
      this.#bridges.delete(bridgeId);
    } else if (!isPending) {
      bridge.cancelFlush?.();
      bridge.cancelFlush = undefined;
    } else if (bridge.cancelFlush === undefined) {
      const { environment, gatherWindowMs = GATHER_WINDOW_MS } = this.#dependencies;
      bridge.cancelFlush = environment.after(gatherWindowMs, () => {
        bridge.cancelFlush = undefined;
        this.inBackground(this.flush(bridge));
      });
    }
  }
}

/** The bridge after facts that leave nothing gathered. */
function applied(bridge: OpenBridge, facts: Fact[]): Decided {
  return { facts, snapshot: facts.reduce(advance, bridge.snapshot), gathering: undefined };
}
