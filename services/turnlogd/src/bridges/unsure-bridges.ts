import type { BridgeDependencies } from './bridge-dependencies.ts';
import { type OpenBridge, settleBridge, stateOf, streamOfOpen } from './open-bridge.ts';

/**
 * The bridges for which an append has failed. It may be in the log all the same: what became of it is known
 * once the log takes appends again, and then their state is read from there.
 */
export class UnsureBridges {
  readonly #dependencies: Pick<BridgeDependencies, 'unsettled' | 'formerState'>;
  readonly #bridges = new Set<OpenBridge>();

  constructor(dependencies: Pick<BridgeDependencies, 'unsettled' | 'formerState'>) {
    this.#dependencies = dependencies;
  }

  all(): OpenBridge[] {
    return [...this.#bridges];
  }

  add(bridge: OpenBridge): void {
    bridge.isUnsure = true;
    this.#bridges.add(bridge);
  }

  /**
   * Brings those of a stream, in which nothing else happens meanwhile, to what the log knows of them.
   * @returns them
   * @throws TurnlogError why it cannot be known yet
   */
  async settleIn(stream: string): Promise<OpenBridge[]> {
    const settled: OpenBridge[] = [];
    for (const bridge of this.#bridges) {
      if (streamOfOpen(bridge) !== stream) continue;
      const reason = this.#dependencies.unsettled();
      if (reason !== undefined) throw reason;
      const state = await this.#dependencies.formerState(stateOf(bridge).bridgeId);
      this.#bridges.delete(bridge);
      bridge.isUnsure = false;
      if (state !== undefined) settleBridge(bridge, state);
      settled.push(bridge);
    }
    return settled;
  }
}
