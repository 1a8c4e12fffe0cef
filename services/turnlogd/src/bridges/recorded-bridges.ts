import {
  advance,
  type BridgeState,
  decideReports,
  type Fact,
  type ReportOutcome,
  requestBridge,
} from '@turnlog/bridge';
import {
  assertProvider,
  type LiveEvent,
  type MeterState,
  type OperationResult,
  PAGE_ROWS_MAX,
  type ReportedEvent,
  streamOfBridge,
} from '@turnlog/events';
import type { PendingDelta } from '../live/live-hub.ts';
import { ANY_BRIDGE, assertMayUse, type BridgeCall } from './bridge-call.ts';
import type { BridgeDependencies } from './bridge-dependencies.ts';
import { type KeptRecord, keptReport, withNothingGathered } from './kept-answers.ts';
import {
  hostIsHere,
  type OpenBridge,
  openBridge,
  restoredBridge,
  stateOf,
  streamOfOpen,
} from './open-bridge.ts';
import { OpenBridges } from './open-bridges.ts';
import {
  answerAfterEnd,
  emittedOf,
  isNotOpen,
  isSameBridge,
  listed,
  type RecordRequest,
  type ReportRequest,
  sessionKeyFor,
  unseen,
} from './recorded-bridge-rules.ts';

/** The bridges whose events a host reports. */
export class RecordedBridges {
  readonly #open: OpenBridges;
  readonly #dependencies: BridgeDependencies;

  constructor(dependencies: BridgeDependencies) {
    this.#dependencies = dependencies;
    this.#open = new OpenBridges(dependencies);
  }

  /**
   * Takes up the bridges whose turn the log holds open: it stays open for a while, for the host may return.
   * Those that are open without a turn are found when they are asked for.
   */
  async restore(inTurn: readonly BridgeState[]): Promise<void> {
    for (const state of inTurn) this.#open.restore(restoredBridge(state));
    await this.#open.recount();
  }

  /** Learns what became of appends that had failed, once the log can tell. */
  async settle(): Promise<void> {
    await this.#open.settle();
  }

  /** The open bridges that the caller may use, in the order of their ids. */
  async list(
    { after, limit = PAGE_ROWS_MAX }: { after?: string; limit?: number } = {},
    { mayUse }: Pick<BridgeCall, 'mayUse'> = ANY_BRIDGE,
  ): Promise<OperationResult<'bridge.list'>> {
    const bridges: OperationResult<'bridge.list'>['bridges'] = [];
    for await (const states of this.#dependencies.openStates(after)) {
      for (const state of states) {
        if (!mayUse(state)) continue;
        if (bridges.length === limit) return { bridges, next: bridges.at(-1)?.bridgeId ?? '' };
        bridges.push(listed(state, this.#open.memory.get(state.bridgeId)));
      }
    }
    return { bridges };
  }

  /** The deltas that are accepted and not in the log yet. */
  pendingDeltas(): PendingDelta[] {
    return this.#open.pendingDeltas();
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** How many of them are in memory. */
  get inMemory(): number {
    return this.#open.memory.all().length;
  }

  /** Opens a bridge, or attaches to it where it is open for the same conversation and provider. */
  async record(
    request: RecordRequest,
    call: BridgeCall = ANY_BRIDGE,
  ): Promise<OperationResult<'bridge.record'>> {
    this.#open.assertNotClosing();
    assertProvider(request.provider);
    const sessionKey = sessionKeyFor(request);
    // The id is held as well as the stream: two hosts that open one id at once open one bridge.
    return await this.#dependencies.streams.run(`record ${request.bridgeId}`, async () => {
      const open = await this.#open.memory.find(request.bridgeId);
      assertMayUse(call, open && stateOf(open));
      try {
        if (open !== undefined && isSameBridge(stateOf(open), request, sessionKey)) {
          return await this.#open.with(request.bridgeId, call, (bridge) => this.#attach(bridge, call));
        }
        if (open !== undefined) {
          await this.#open.with(request.bridgeId, call, (bridge) => this.#open.end(bridge, 'replaced'));
        }
      } catch (error) {
        // It may have stopped by itself while this waited for its turn, which is just as well.
        if (!isNotOpen(error)) throw error;
      }
      return await this.#begin(request, sessionKey, call);
    });
  }

  /**
   * Takes what the host of a bridge reports. Where the answer to its last report was lost, the bridge is
   * stopped when the host sends it again: then it is answered once more.
   */
  async report(
    request: ReportRequest,
    call: BridgeCall = ANY_BRIDGE,
  ): Promise<OperationResult<'bridge.event'>> {
    try {
      return await this.#take(request, call);
    } catch (error) {
      if (!isNotOpen(error)) throw error;
      const { formerState, head } = this.#dependencies;
      const answer = answerAfterEnd(await formerState(request.bridgeId), request, call);
      if (answer === undefined) throw error;
      return { seq: head(), ...answer };
    }
  }

  async #take(
    { bridgeId, first, reports }: ReportRequest,
    call: BridgeCall,
  ): Promise<OperationResult<'bridge.event'>> {
    return await this.#open.with(bridgeId, call, async (bridge) => {
      // A host that is told of a gap has returned as well.
      hostIsHere(bridge);
      const fresh = unseen(bridge, first, reports);
      const { command } = call;
      if (fresh.reports.length === 0 && command === undefined) return this.#answer(bridge, []);
      const outcome = await this.#decide(bridge, fresh);
      // What a command was answered for must be there after a crash, deltas too: it is not sent again.
      const accepted = fresh.first + fresh.reports.length - 1;
      const decided = command === undefined ? outcome : withNothingGathered(outcome, accepted);
      const completion = command && { command, answer: keptReport(decided, accepted) };
      const records = await this.#open.commit(bridge, { ...decided, accepted }, completion);
      return this.#answer(bridge, emittedOf(decided, records));
    });
  }

  async stop(bridgeId: string, call: BridgeCall = ANY_BRIDGE): Promise<{ seq: number }> {
    const { command } = call;
    return await this.#open.with(bridgeId, call, async (bridge) => ({
      seq: await this.#open.end(bridge, 'requested', command && { command, answer: {} }),
    }));
  }

  /** Writes everything that is gathered. The bridges stay open: their hosts go on with the next daemon. */
  async close(): Promise<void> {
    await this.#open.close();
  }

  async #attach(bridge: OpenBridge, { command }: BridgeCall): Promise<OperationResult<'bridge.record'>> {
    hostIsHere(bridge);
    const { seq, accepted, durableThrough } = this.#answer(bridge, []);
    const answer = { accepted, durableThrough, attached: true };
    const ownerToken = this.#dependencies.ownerToken(stateOf(bridge));
    if (command !== undefined) {
      const { bridgeId, since } = stateOf(bridge);
      const kept: KeptRecord = { ...answer, bridgeId, since };
      await this.#dependencies.append(streamOfOpen(bridge), [], { command, answer: kept });
    }
    return { seq, ownerToken, ...answer };
  }

  async #begin(
    request: RecordRequest,
    sessionKey: string | undefined,
    call: BridgeCall,
  ): Promise<OperationResult<'bridge.record'>> {
    const { append, formerState, streams, ownerToken, head } = this.#dependencies;
    const { bridgeId, provider } = request;
    const session = sessionKey === undefined ? {} : { sessionKey };
    const requested: Fact<'bridge_requested'> = {
      type: 'bridge_requested',
      data: { ...request, ...session, mode: 'recorded' },
    };
    const started: Fact<'bridge_started'> = {
      type: 'bridge_started',
      data: { bridgeId, provider, ...session },
    };
    const former = await formerState(bridgeId);
    // A bridge that has stopped is known by its id still: a late report of one of its turns finds its place.
    assertMayUse(call, former);
    return await streams.run(streamOfBridge(request), async () => {
      const answer = { accepted: 0, durableThrough: 0, attached: false };
      const { command } = call;
      const kept: KeptRecord = { ...answer, bridgeId };
      const completion = command && { command, answer: kept };
      const records = await append(streamOfBridge(request), [requested, started], completion);
      const asRequested = requestBridge(former, { ...requested, at: records[0]?.at ?? 0 });
      const bridge = openBridge(advance(asRequested, started));
      this.#open.add(bridge);
      return { seq: records.at(-1)?.seq ?? head(), ownerToken: ownerToken(stateOf(bridge)), ...answer };
    });
  }

  async #decide(
    bridge: OpenBridge,
    { first, reports }: { first: number; reports: readonly ReportedEvent[] },
  ): Promise<ReportOutcome> {
    return decideReports({
      snapshot: bridge.snapshot,
      gathering: bridge.gathering,
      meter: await this.#meterFor(bridge, reports),
      first,
      reports,
      endsOfOthers: () => this.#open.endsBeside(bridge),
      newPromptId: this.#dependencies.environment.newId,
    });
  }

  async #meterFor(bridge: OpenBridge, reports: readonly ReportedEvent[]): Promise<MeterState | undefined> {
    const { sessionKey } = stateOf(bridge);
    const isMeasured = reports.some((report) => 'usage' in report && report.usage !== undefined);
    return sessionKey !== undefined && isMeasured ? await this.#dependencies.meterOf(sessionKey) : undefined;
  }

  #answer(bridge: OpenBridge, emitted: LiveEvent[]): OperationResult<'bridge.event'> {
    return {
      seq: this.#dependencies.head(),
      accepted: bridge.accepted,
      durableThrough: stateOf(bridge).through,
      emitted,
    };
  }
}
