import { advance, decideFlush, decideStop, type Fact, GATHER_WINDOW_MS } from '@turnlog/bridge';
import type { Envelope } from '@turnlog/events';
import type { Completion } from '../commands/commands.ts';
import { DaemonError } from '../errors.ts';
import type { PendingDelta } from '../live/live-hub.ts';
import { scheduleOf } from '../live/schedule.ts';
import type { BridgeCall } from './bridge-call.ts';
import { type BridgeDependencies, HOST_RETURN_MS } from './bridge-dependencies.ts';
import { BridgeMemory } from './bridge-memory.ts';
import { applied, type Decided } from './decided.ts';
import { cancelWaits, type OpenBridge, pendingOf, stateOf, streamOfOpen } from './open-bridge.ts';
import { interruption, metaOfEnd, notOpen } from './recorded-bridge-rules.ts';
import { UnsureBridges } from './unsure-bridges.ts';

/** How long after a failure what is gathered is tried again. */
const FLUSH_RETRY_MS = 5_000;

/**
 * The bridges that are open, and the one way in which they change: append, and only then memory. A bridge
 * that an append failed for is as it was, and its host sends again what was not acknowledged. The append may
 * be in the log all the same: before such a bridge is used again its state is read from there.
 */
export class OpenBridges {
  readonly memory: BridgeMemory;
  readonly #dependencies: BridgeDependencies;
  readonly #unsure: UnsureBridges;
  #isClosing = false;
  /** How many are open, in memory or not. */
  #count = 0;

  constructor(dependencies: BridgeDependencies) {
    this.#dependencies = dependencies;
    this.memory = new BridgeMemory(dependencies);
    this.#unsure = new UnsureBridges(dependencies);
  }

  get size(): number {
    return this.#count;
  }

  /** Takes up a bridge whose turn a restart left open. */
  restore(bridge: OpenBridge): void {
    this.memory.add(bridge);
    this.awaitHost(bridge);
  }

  /** Takes in a bridge that has just been opened. */
  add(bridge: OpenBridge): void {
    this.memory.add(bridge);
    this.#count += 1;
  }

  async recount(): Promise<void> {
    this.#count = await this.#dependencies.countOpen();
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
    const bridge = this.memory.touch(bridgeId) ?? (await this.memory.find(bridgeId));
    this.assertNotClosing();
    if (bridge === undefined || !mayUse(stateOf(bridge))) throw notOpen(bridgeId);
    // Another that came in the same moment may have taken its room.
    if (!this.memory.holds(bridge)) return await this.with(bridgeId, { mayUse }, task);
    return await this.#within(bridge, async () => {
      if (!this.memory.holds(bridge)) throw notOpen(bridgeId);
      return await task(bridge);
    });
  }

  /** Learns of every bridge for which an append had failed what the log knows of it now. */
  async settle(): Promise<void> {
    await Promise.all(this.#unsure.all().map((bridge) => this.#within(bridge, async () => undefined)));
    await this.recount();
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
    const concerned = [bridge, ...others];
    const records = isSilent
      ? []
      : await live
          .during(stream, [...before, after], () => append(stream, facts, completion))
          .catch((error: unknown) => {
            for (const each of concerned) this.#unsure.add(each);
            throw error;
          });
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
    try {
      await this.#within(bridge, async () => {
        if (bridge.cancelAbandonment === undefined || !this.memory.holds(bridge)) return;
        bridge.cancelAbandonment = undefined;
        await this.commit(bridge, applied(bridge, interruption(bridge, 'restart')));
      });
    } catch (error) {
      if (!this.#isClosing) this.awaitHost(bridge);
      throw error;
    }
  }

  /** Writes what the bridge has gathered, and what it has only shown. What cannot be written stays gathered, and is tried again. */
  async flush(bridge: OpenBridge): Promise<void> {
    try {
      await this.#within(bridge, async () => {
        if (!this.memory.holds(bridge)) return;
        await this.commit(bridge, decideFlush(bridge.snapshot, bridge.gathering, bridge.accepted));
      });
    } catch (error) {
      this.#flushAfter(bridge, FLUSH_RETRY_MS);
      throw error;
    }
  }

  /** Writes everything that is gathered, as far as it can be, and lets nothing wait any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(
      this.memory.all().map(async (bridge) => {
        cancelWaits(bridge);
        await this.flush(bridge).catch(this.#dependencies.onFailure);
      }),
    );
  }

  /** The deltas that are accepted and not in the log yet. */
  pendingDeltas(): PendingDelta[] {
    return this.memory.all().flatMap(pendingOf);
  }

  /** Does what nobody waits for; a failure is told all the same. */
  inBackground(task: Promise<void>): void {
    task.catch(this.#dependencies.onFailure);
  }

  #inTurnBeside(bridge: OpenBridge): OpenBridge[] {
    const stream = streamOfOpen(bridge);
    return this.memory
      .all()
      .filter(
        (other) => other !== bridge && stateOf(other).turn !== undefined && streamOfOpen(other) === stream,
      );
  }

  /**
   * Runs a task while nothing else happens in the stream of a bridge, once it is known what became of every
   * append in it that had failed.
   */
  async #within<Result>(bridge: OpenBridge, task: () => Promise<Result>): Promise<Result> {
    const stream = streamOfOpen(bridge);
    return await this.memory.using(bridge, () =>
      this.#dependencies.streams.run(stream, async () => {
        for (const settled of await this.#unsure.settleIn(stream)) this.#settle(settled);
        return await task();
      }),
    );
  }

  /** After a commit: a stopped bridge leaves, and pending deltas get their time. */
  #settle(bridge: OpenBridge): void {
    const { lifecycle, through } = stateOf(bridge);
    const isPending = bridge.accepted > through;
    if (lifecycle === 'stopped') {
      cancelWaits(bridge);
      this.memory.remove(bridge);
      this.#count -= 1;
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
