import {
  advance,
  type BridgeState,
  decideReports,
  decideStop,
  type Fact,
  GATHER_WINDOW_MS,
  type ReportOutcome,
  requestBridge,
  restoreBridge,
  written,
} from '@turnlog/bridge';
import {
  assertProvider,
  type Envelope,
  type LiveEvent,
  type MeterState,
  type OperationParameters,
  type OperationResult,
  type ReportedEvent,
  streamOfBridge,
} from '@turnlog/events';
import type { Environment } from '../environment.ts';
import type { KeyedLock } from '../keyed-lock.ts';
import { cancelWaits, type OpenBridge, openBridge, stateOf, streamOfOpen } from './open-bridge.ts';
import {
  describePhase,
  emittedOf,
  interruption,
  isSameBridge,
  metaOfEnd,
  notOpen,
  sessionKeyFor,
  unseen,
} from './recorded-bridge-rules.ts';

/** How long a turn that a restart left open waits for its host. */
export const HOST_RETURN_MS = 30_000;

/** What the bridges need of the daemon. */
export interface BridgeDependencies {
  environment: Environment;
  /** One task at a time for each stream. */
  streams: KeyedLock;
  /** Appends facts, all or none, and answers their records. */
  append(stream: string, facts: readonly Fact[]): Promise<readonly Envelope[]>;
  head(): number;
  /** The state of a bridge that the log knows, also of one that has stopped. */
  formerState(bridgeId: string): Promise<BridgeState | undefined>;
  meterOf(sessionKey: string): Promise<MeterState>;
  ownerToken(state: BridgeState): string;
  /** Told of a failure that no caller waits for. */
  onFailure(error: unknown): void;
  gatherWindowMs?: number;
  hostReturnMs?: number;
}

/**
 * The bridges whose events a host reports. Memory moves only after the commit: a bridge that an append
 * failed for is as it was, and its host sends again what was not acknowledged.
 */
export class RecordedBridges {
  readonly #open = new Map<string, OpenBridge>();
  readonly #dependencies: BridgeDependencies;

  constructor(dependencies: BridgeDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes up the bridges that the log holds open. Their turns stay open for a while, for the host may return. */
  restore(states: readonly BridgeState[]): void {
    const { environment, hostReturnMs = HOST_RETURN_MS } = this.#dependencies;
    for (const state of states) {
      const bridge = openBridge(restoreBridge(state));
      this.#open.set(state.bridgeId, bridge);
      if (state.turn === undefined) continue;
      bridge.cancelAbandonment = environment.after(hostReturnMs, () =>
        this.#inBackground(this.#abandon(bridge)),
      );
    }
  }

  list(): OperationResult<'bridge.list'>['bridges'] {
    return [...this.#open.values()].map((bridge) => {
      const { bridgeId, provider, mode, conversationKey, sessionKey, turn, since } = stateOf(bridge);
      return {
        bridgeId,
        provider,
        mode,
        state: describePhase(bridge),
        ...(conversationKey !== undefined && { conversationKey }),
        ...(sessionKey !== undefined && { sessionKey }),
        ...(turn !== undefined && { turnId: turn.turnId }),
        accepted: bridge.accepted,
        since,
      };
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens a bridge, or attaches to it where it is open for the same conversation and provider. */
  record(request: OperationParameters<'bridge.record'>): Promise<OperationResult<'bridge.record'>> {
    assertProvider(request.provider);
    const sessionKey = sessionKeyFor(request);
    return this.#dependencies.streams.run(`record ${request.bridgeId}`, async () => {
      const open = this.#open.get(request.bridgeId);
      if (open !== undefined && isSameBridge(stateOf(open), request, sessionKey)) return this.#attach(open);
      if (open !== undefined) await this.#stopOpen(open, 'replaced');
      return await this.#begin(request, sessionKey);
    });
  }

  /** Takes what the host of a bridge reports. */
  async report(call: {
    bridgeId: string;
    first?: number;
    reports: readonly ReportedEvent[];
  }): Promise<OperationResult<'bridge.event'>> {
    return await this.#withOpen(call.bridgeId, async (bridge) => {
      const fresh = unseen(bridge, call.first, call.reports);
      this.#hostIsHere(bridge);
      if (fresh.reports.length === 0) return this.#answer(bridge, []);
      const outcome = decideReports({
        snapshot: bridge.snapshot,
        gathering: bridge.gathering,
        meter: await this.#meterFor(bridge, fresh.reports),
        ...fresh,
        newPromptId: this.#dependencies.environment.newId,
      });
      const before = outcome.startsTurn ? this.#interruptOthers(bridge) : [];
      const records = await this.#commit(bridge, before, outcome);
      bridge.accepted = fresh.first + fresh.reports.length - 1;
      return this.#answer(bridge, emittedOf(outcome, records));
    });
  }

  async stop(bridgeId: string): Promise<{ seq: number }> {
    return await this.#withOpen(bridgeId, async (bridge) => ({ seq: await this.#end(bridge, 'requested') }));
  }

  /** Writes everything that is gathered. The bridges stay open: their hosts go on with the next daemon. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#open.values()].map(async (bridge) => {
        cancelWaits(bridge);
        await this.#dependencies.streams.run(streamOfOpen(bridge), () => this.#flush(bridge));
      }),
    );
  }

  #attach(bridge: OpenBridge): OperationResult<'bridge.record'> {
    this.#hostIsHere(bridge);
    const { seq, accepted, durableThrough } = this.#answer(bridge, []);
    const ownerToken = this.#dependencies.ownerToken(stateOf(bridge));
    return { seq, ownerToken, accepted, durableThrough, attached: true };
  }

  async #begin(
    request: OperationParameters<'bridge.record'>,
    sessionKey: string | undefined,
  ): Promise<OperationResult<'bridge.record'>> {
    const { append, formerState, streams, ownerToken } = this.#dependencies;
    const { bridgeId, provider } = request;
    const session = sessionKey === undefined ? {} : { sessionKey };
    const facts: [Fact<'bridge_requested'>, Fact<'bridge_started'>] = [
      { type: 'bridge_requested', data: { ...request, ...session, mode: 'recorded' } },
      { type: 'bridge_started', data: { bridgeId, provider, ...session } },
    ];
    const former = await formerState(bridgeId);
    return await streams.run(streamOfBridge(request), async () => {
      const records = await append(streamOfBridge(request), facts);
      const requested = requestBridge(former, { ...facts[0], at: records[0]?.at ?? 0 });
      const bridge = openBridge(advance(requested, facts[1]));
      this.#open.set(bridgeId, bridge);
      return {
        seq: records.at(-1)?.seq ?? this.#dependencies.head(),
        ownerToken: ownerToken(stateOf(bridge)),
        accepted: 0,
        durableThrough: 0,
        attached: false,
      };
    });
  }

  async #withOpen<Result>(bridgeId: string, task: (bridge: OpenBridge) => Promise<Result>): Promise<Result> {
    const bridge = this.#find(bridgeId);
    return await this.#dependencies.streams.run(streamOfOpen(bridge), async () => {
      if (this.#find(bridgeId) !== bridge) throw notOpen(bridgeId);
      return await task(bridge);
    });
  }

  #find(bridgeId: string): OpenBridge {
    const bridge = this.#open.get(bridgeId);
    if (bridge === undefined) throw notOpen(bridgeId);
    return bridge;
  }

  #hostIsHere(bridge: OpenBridge): void {
    bridge.cancelAbandonment?.();
    bridge.cancelAbandonment = undefined;
  }

  async #meterFor(bridge: OpenBridge, reports: readonly ReportedEvent[]): Promise<MeterState | undefined> {
    const { sessionKey } = stateOf(bridge);
    if (sessionKey === undefined) return undefined;
    const measured = reports.some((report) => 'usage' in report && report.usage !== undefined);
    return measured ? await this.#dependencies.meterOf(sessionKey) : undefined;
  }

  /** One conversation has one turn at a time: a turn that begins ends those of the other bridges there. */
  #interruptOthers(bridge: OpenBridge): { bridge: OpenBridge; facts: Fact[] }[] {
    const stream = streamOfOpen(bridge);
    return [...this.#open.values()]
      .filter(
        (other) => other !== bridge && stateOf(other).turn !== undefined && streamOfOpen(other) === stream,
      )
      .map((other) => ({ bridge: other, facts: interruption(other, 'replaced') }));
  }

  async #commit(
    bridge: OpenBridge,
    before: { bridge: OpenBridge; facts: Fact[] }[],
    outcome: Pick<ReportOutcome, 'facts' | 'snapshot' | 'gathering'>,
  ): Promise<readonly Envelope[]> {
    const earlier = before.flatMap(({ facts }) => facts);
    const facts = [...earlier, ...outcome.facts];
    const records = facts.length === 0 ? [] : await this.#dependencies.append(streamOfOpen(bridge), facts);
    for (const other of before) {
      other.bridge.snapshot = other.facts.reduce(advance, other.bridge.snapshot);
      other.bridge.gathering = undefined;
      cancelWaits(other.bridge);
    }
    bridge.snapshot = outcome.snapshot;
    bridge.gathering = outcome.gathering;
    this.#settle(bridge);
    return records.slice(earlier.length);
  }

  /** After a commit: a stopped bridge leaves, and pending deltas get their time. */
  #settle(bridge: OpenBridge): void {
    const { lifecycle, bridgeId } = stateOf(bridge);
    const pending = bridge.gathering?.pending ?? '';
    if (lifecycle === 'stopped' || pending === '') {
      bridge.cancelFlush?.();
      bridge.cancelFlush = undefined;
    }
    if (lifecycle === 'stopped') {
      cancelWaits(bridge);
      this.#open.delete(bridgeId);
    } else if (pending !== '' && bridge.cancelFlush === undefined) {
      const { environment, gatherWindowMs = GATHER_WINDOW_MS } = this.#dependencies;
      bridge.cancelFlush = environment.after(gatherWindowMs, () => {
        bridge.cancelFlush = undefined;
        this.#inBackground(this.#dependencies.streams.run(streamOfOpen(bridge), () => this.#flush(bridge)));
      });
    }
  }

  async #flush(bridge: OpenBridge): Promise<void> {
    if (bridge.gathering === undefined || this.#open.get(stateOf(bridge).bridgeId) !== bridge) return;
    const { gathering, facts } = written(bridge.gathering, stateOf(bridge));
    await this.#commit(bridge, [], { facts, snapshot: facts.reduce(advance, bridge.snapshot), gathering });
  }

  async #abandon(bridge: OpenBridge): Promise<void> {
    const { bridgeId } = stateOf(bridge);
    await this.#dependencies.streams.run(streamOfOpen(bridge), async () => {
      if (bridge.cancelAbandonment === undefined || this.#open.get(bridgeId) !== bridge) return;
      bridge.cancelAbandonment = undefined;
      const facts = interruption(bridge, 'restart');
      await this.#commit(bridge, [], {
        facts,
        snapshot: facts.reduce(advance, bridge.snapshot),
        gathering: undefined,
      });
    });
  }

  async #stopOpen(bridge: OpenBridge, reason: 'replaced'): Promise<void> {
    await this.#dependencies.streams.run(streamOfOpen(bridge), () => this.#end(bridge, reason));
  }

  async #end(bridge: OpenBridge, reason: 'requested' | 'replaced'): Promise<number> {
    const facts = decideStop(stateOf(bridge), bridge.gathering, { reason }, metaOfEnd(bridge));
    const records = await this.#commit(bridge, [], {
      facts,
      snapshot: facts.reduce(advance, bridge.snapshot),
      gathering: undefined,
    });
    return records.at(-1)?.seq ?? this.#dependencies.head();
  }

  #answer(bridge: OpenBridge, emitted: LiveEvent[]): OperationResult<'bridge.event'> {
    return {
      seq: this.#dependencies.head(),
      accepted: bridge.accepted,
      durableThrough: stateOf(bridge).through,
      emitted,
    };
  }

  #inBackground(task: Promise<void>): void {
    task.catch(this.#dependencies.onFailure);
  }
}
