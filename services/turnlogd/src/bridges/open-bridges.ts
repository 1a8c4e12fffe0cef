import {
  advance,
  decideFlush,
  decideStop,
  type Fact,
  GATHER_WINDOW_MS,
  type ReportOutcome,
} from '@turnlog/bridge';
import type { Envelope } from '@turnlog/events';
import type { Completion } from '../commands/commands.ts';
import { DaemonError } from '../errors.ts';
import type { PendingDelta } from '../live/live-hub.ts';
import { scheduleOf } from '../live/schedule.ts';
import type { BridgeCall } from './bridge-call.ts';
import { type BridgeDependencies, HOST_RETURN_MS } from './bridge-dependencies.ts';
import { cancelWaits, type OpenBridge, stateOf, streamOfOpen } from './open-bridge.ts';
import { interruption, metaOfEnd, notOpen } from './recorded-bridge-rules.ts';

/** How long after a failure what is gathered is tried again. */
const FLUSH_RETRY_MS = 5_000;

/** What is decided for a bridge: facts to append, and how it is once they are. */
type Decided = Pick<ReportOutcome, 'facts' | 'snapshot' | 'gathering'> &
  Partial<Pick<ReportOutcome, 'emitted' | 'startsTurn'> & { accepted: number }>;

/**
 * The bridges that are open, and the one way in which they change: append, and only then memory. A bridge
 * that an append failed for is as it was, and its host sends again what was not acknowledged.
 */
export class OpenBridges {
  readonly #bridges = new Map<string, OpenBridge>();
  readonly #dependencies: BridgeDependencies;
  #isClosing = false;

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

  /** @throws DaemonError `store_closed`, for what came now could wait for a time that does not come */
  assertNotClosing(): void {
    if (this.#isClosing) throw new DaemonError('store_closed', 'the daemon is stopping');
  }

  /**
   * Runs a task on an open bridge while nothing else happens in its stream.
   * @throws DaemonError `bridge_not_found`, `store_closed`
   */
  async with<Result>(
    bridgeId: string,
    { mayUse }: Pick<BridgeCall, 'mayUse'>,
    task: (bridge: OpenBridge) => Promise<Result>,
  ): Promise<Result> {
    this.assertNotClosing();
    const bridge = this.#bridges.get(bridgeId);
    if (bridge === undefined || !mayUse(stateOf(bridge))) throw notOpen(bridgeId);
    return await this.#dependencies.streams.run(streamOfOpen(bridge), async () => {
      if (!this.#isOpen(bridge)) throw notOpen(bridgeId);
      return await task(bridge);
    });
  }

  /**
   * Appends what was decided, what it does to others included, and with a completion the record that says
   * that the command is done as the last of it; answers the records.
   */
  async commit(bridge: OpenBridge, decided: Decided, completion?: Completion): Promise<readonly Envelope[]> {
    const {
      facts,
      snapshot,
      gathering,
      emitted = [],
      startsTurn = false,
      accepted = bridge.accepted,
    } = decided;
    const others = startsTurn ? this.#inTurnBeside(bridge) : [];
    const stream = streamOfOpen(bridge);
    const { append, live } = this.#dependencies;
    const { before, after } = scheduleOf(emitted, facts.length);
    const isSilent = facts.length === 0 && completion === undefined;
    // The last record of a command is no fact, and what comes after the facts is told with it.
    const atOnce = facts.length === 0 || completion === undefined ? after : [];
    const records = isSilent
      ? []
      : await live.during(stream, [...before, after], () => append(stream, facts, completion));
    for (const other of others) {
      const { bridgeId } = stateOf(other);
      const ends = facts.filter(({ data }) => data.bridgeId === bridgeId);
      other.snapshot = ends.reduce(advance, other.snapshot);
      other.gathering = undefined;
      cancelWaits(other);
    }
    bridge.snapshot = snapshot;
    bridge.gathering = gathering;
    bridge.accepted = accepted;
    // In the same moment as the gathering: who subscribes finds a delta there or is told it, never both.
    live.show(stream, atOnce);
    this.#settle(bridge);
    return records;
  }

  /** The ends of the turns that other bridges of the conversation have open: a turn that begins ends theirs. */
  endsBeside(bridge: OpenBridge): Fact[] {
    return this.#inTurnBeside(bridge).flatMap((other) => interruption(other, 'replaced'));
  }

  /** Ends a bridge; the answer is the seq of its end. */
  async end(bridge: OpenBridge, reason: 'requested' | 'replaced', completion?: Completion): Promise<number> {
    const facts = decideStop(stateOf(bridge), bridge.gathering, { reason }, metaOfEnd(bridge));
    const records = await this.commit(bridge, applied(bridge, facts), completion);
    return records.at(-1)?.seq ?? this.#dependencies.head();
  }

  /** Gives the host of a turn that a restart left open its time to return. */
  awaitHost(bridge: OpenBridge): void {
    const { environment, hostReturnMs = HOST_RETURN_MS } = this.#dependencies;
    bridge.cancelAbandonment = environment.after(hostReturnMs, () => {
      this.inBackground(this.abandon(bridge));
    });
  }

  /** Interrupts the turn of a bridge whose host did not return after a restart. */
  async abandon(bridge: OpenBridge): Promise<void> {
    await this.#dependencies.streams.run(streamOfOpen(bridge), async () => {
      if (bridge.cancelAbandonment === undefined || !this.#isOpen(bridge)) return;
      bridge.cancelAbandonment = undefined;
      try {
        await this.commit(bridge, applied(bridge, interruption(bridge, 'restart')));
      } catch (error) {
        if (!this.#isClosing) this.awaitHost(bridge);
        throw error;
      }
    });
  }

  /** Writes what the bridge has gathered, and what it has only shown. What cannot be written stays gathered, and is tried again. */
  async flush(bridge: OpenBridge): Promise<void> {
    await this.#dependencies.streams.run(streamOfOpen(bridge), async () => {
      if (!this.#isOpen(bridge)) return;
      try {
        await this.commit(bridge, decideFlush(bridge.snapshot, bridge.gathering, bridge.accepted));
      } catch (error) {
        this.#flushAfter(bridge, FLUSH_RETRY_MS);
        throw error;
      }
    });
  }

  /** Writes everything that is gathered, as far as it can be, and lets nothing wait any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(
      this.all().map(async (bridge) => {
        cancelWaits(bridge);
        await this.flush(bridge).catch(this.#dependencies.onFailure);
      }),
    );
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

  #inTurnBeside(bridge: OpenBridge): OpenBridge[] {
    const stream = streamOfOpen(bridge);
    return this.all().filter(
      (other) => other !== bridge && stateOf(other).turn !== undefined && streamOfOpen(other) === stream,
    );
  }

  #isOpen(bridge: OpenBridge): boolean {
    return this.#bridges.get(stateOf(bridge).bridgeId) === bridge;
  }

  /** After a commit: a stopped bridge leaves, and pending deltas get their time. */
  #settle(bridge: OpenBridge): void {
    const { lifecycle, bridgeId, through } = stateOf(bridge);
    const isPending = bridge.accepted > through;
    if (lifecycle === 'stopped') {
      cancelWaits(bridge);
      this.#bridges.delete(bridgeId);
    } else if (!isPending) {
      bridge.cancelFlush?.();
      bridge.cancelFlush = undefined;
    } else {
      this.#flushAfter(bridge, this.#dependencies.gatherWindowMs ?? GATHER_WINDOW_MS);
    }
  }

  #flushAfter(bridge: OpenBridge, delayMs: number): void {
    if (bridge.cancelFlush !== undefined || this.#isClosing) return;
    bridge.cancelFlush = this.#dependencies.environment.after(delayMs, () => {
      bridge.cancelFlush = undefined;
      this.inBackground(this.flush(bridge));
    });
  }
}

/** The bridge after facts that leave nothing gathered. */
function applied(bridge: OpenBridge, facts: Fact[]): Decided {
  return { facts, snapshot: facts.reduce(advance, bridge.snapshot), gathering: undefined };
}
