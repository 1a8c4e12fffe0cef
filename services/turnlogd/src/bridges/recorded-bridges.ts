import {
  advance,
  type BridgeState,
  decideReports,
  type Fact,
  phaseOf,
  requestBridge,
  restoreBridge,
} from '@turnlog/bridge';
import {
  assertProvider,
  type LiveEvent,
  type MeterState,
  type OperationParameters,
  type OperationResult,
  type ReportedEvent,
  streamOfBridge,
} from '@turnlog/events';
import { DaemonError } from '../errors.ts';
import type { PendingDelta } from '../live/live-hub.ts';
import { cancelWaits, hostIsHere, type OpenBridge, openBridge, stateOf } from './open-bridge.ts';
import { type BridgeDependencies, OpenBridges } from './open-bridges.ts';
import { emittedOf, isSameBridge, sessionKeyFor, unseen } from './recorded-bridge-rules.ts';

/** How long a turn that a restart left open waits for its host. */
export const HOST_RETURN_MS = 30_000;

/** The bridges whose events a host reports. */
export class RecordedBridges {
  readonly #open: OpenBridges;
  readonly #dependencies: BridgeDependencies;

  constructor(dependencies: BridgeDependencies) {
    this.#dependencies = dependencies;
    this.#open = new OpenBridges(dependencies);
  }

  /** Takes up the bridges that the log holds open. Their turns stay open for a while, for the host may return. */
  restore(states: readonly BridgeState[]): void {
    const { environment, hostReturnMs = HOST_RETURN_MS } = this.#dependencies;
    for (const state of states) {
      const bridge = openBridge(restoreBridge(state));
      this.#open.add(bridge);
      if (state.turn === undefined) continue;
      bridge.cancelAbandonment = environment.after(hostReturnMs, () => {
        this.#open.inBackground(this.#open.abandon(bridge));
      });
    }
  }

  list(): OperationResult<'bridge.list'>['bridges'] {
    return this.#open.all().map((bridge) => {
      const { bridgeId, provider, mode, conversationKey, sessionKey, turn, since } = stateOf(bridge);
      return {
        bridgeId,
        provider,
        mode,
        state: phaseOf(stateOf(bridge)),
        ...(conversationKey !== undefined && { conversationKey }),
        ...(sessionKey !== undefined && { sessionKey }),
        ...(turn !== undefined && { turnId: turn.turnId }),
        accepted: bridge.accepted,
        since,
      };
    });
  }

  /** The deltas that are accepted and not in the log yet. */
  pendingDeltas(): PendingDelta[] {
    return this.#open.pendingDeltas();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens a bridge, or attaches to it where it is open for the same conversation and provider. */
  async record(request: OperationParameters<'bridge.record'>): Promise<OperationResult<'bridge.record'>> {
    assertProvider(request.provider);
    const sessionKey = sessionKeyFor(request);
    // The id is held as well as the stream: two hosts that open one id at once open one bridge.
    return await this.#dependencies.streams.run(`record ${request.bridgeId}`, async () => {
      const open = this.#open.get(request.bridgeId);
      if (open !== undefined && isSameBridge(stateOf(open), request, sessionKey)) return this.#attach(open);
      if (open !== undefined) await this.#replace(request.bridgeId);
      return await this.#begin(request, sessionKey);
    });
  }

  /** Takes what the host of a bridge reports. */
  async report(call: {
    bridgeId: string;
    first?: number;
    reports: readonly ReportedEvent[];
  }): Promise<OperationResult<'bridge.event'>> {
    return await this.#open.with(call.bridgeId, async (bridge) => {
      const fresh = unseen(bridge, call.first, call.reports);
      hostIsHere(bridge);
      if (fresh.reports.length === 0) return this.#answer(bridge, []);
      const outcome = decideReports({
        snapshot: bridge.snapshot,
        gathering: bridge.gathering,
        meter: await this.#meterFor(bridge, fresh.reports),
        ...fresh,
        newPromptId: this.#dependencies.environment.newId,
      });
      const interrupted = outcome.startsTurn ? this.#open.inTurnBeside(bridge) : [];
      const records = await this.#open.commit(bridge, outcome, interrupted);
      bridge.accepted = fresh.first + fresh.reports.length - 1;
      return this.#answer(bridge, emittedOf(outcome, records));
    });
  }

  async stop(bridgeId: string): Promise<{ seq: number }> {
    return await this.#open.with(bridgeId, async (bridge) => ({
      seq: await this.#open.end(bridge, 'requested'),
    }));
  }

  /** Writes everything that is gathered. The bridges stay open: their hosts go on with the next daemon. */
  async close(): Promise<void> {
    await Promise.all(
      this.#open.all().map(async (bridge) => {
        cancelWaits(bridge);
        await this.#open.flush(bridge);
      }),
    );
  }

  #attach(bridge: OpenBridge): OperationResult<'bridge.record'> {
    hostIsHere(bridge);
    const { seq, accepted, durableThrough } = this.#answer(bridge, []);
    const ownerToken = this.#dependencies.ownerToken(stateOf(bridge));
    return { seq, ownerToken, accepted, durableThrough, attached: true };
  }

  async #replace(bridgeId: string): Promise<void> {
    try {
      await this.#open.with(bridgeId, (bridge) => this.#open.end(bridge, 'replaced'));
    } catch (error) {
      // It may have stopped by itself while this waited for its turn, which is just as well.
      if (!(error instanceof DaemonError && error.code === 'bridge_not_found')) throw error;
    }
  }

  async #begin(
    request: OperationParameters<'bridge.record'>,
    sessionKey: string | undefined,
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
    return await streams.run(streamOfBridge(request), async () => {
      const records = await append(streamOfBridge(request), [requested, started]);
      const asRequested = requestBridge(former, { ...requested, at: records[0]?.at ?? 0 });
      const bridge = openBridge(advance(asRequested, started));
      this.#open.add(bridge);
      return {
        seq: records.at(-1)?.seq ?? head(),
        ownerToken: ownerToken(stateOf(bridge)),
        accepted: 0,
        durableThrough: 0,
        attached: false,
      };
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
