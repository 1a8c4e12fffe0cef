import { assert } from '@turnlog/events';
import type { BridgeDependencies } from './bridge-dependencies.ts';
import { type OpenBridge, restoredBridge, stateOf } from './open-bridge.ts';

/** How many bridges are kept in memory; more only where each of them has something under way. */
const IN_MEMORY_MAX = 1_024;
/** How many are looked at for one that may leave, each time that another comes. */
const LOOKED_AT_MAX = 16;

/**
 * The open bridges that are in memory: those with something under way, and those used lately. The others are
 * rows of the projection, and are taken from there when they are asked for. So memory does not grow with the
 * number of bridges that nobody has stopped.
 */
export class BridgeMemory {
  /** The one used longest ago first. */
  readonly #bridges = new Map<string, OpenBridge>();
  readonly #dependencies: BridgeDependencies;

  constructor(dependencies: BridgeDependencies) {
    this.#dependencies = dependencies;
  }

  all(): OpenBridge[] {
    return [...this.#bridges.values()];
  }

  get(bridgeId: string): OpenBridge | undefined {
    return this.#bridges.get(bridgeId);
  }

  /** Whether this is the bridge that now goes by its id. */
  holds(bridge: OpenBridge): boolean {
    return this.#bridges.get(stateOf(bridge).bridgeId) === bridge;
  }

  add(bridge: OpenBridge): void {
    this.#bridges.set(stateOf(bridge).bridgeId, bridge);
    this.#makeRoomFor(bridge);
  }

  remove(bridge: OpenBridge): void {
    if (this.holds(bridge)) this.#bridges.delete(stateOf(bridge).bridgeId);
  }

  /** The bridge of an id, where it is in memory; at once, so that nothing can come in between. */
  touch(bridgeId: string): OpenBridge | undefined {
    const known = this.#bridges.get(bridgeId);
    if (known === undefined) return undefined;
    this.#bridges.delete(bridgeId);
    this.#bridges.set(bridgeId, known);
    return known;
  }

  /** The bridge of an id, where it is open. Nothing else loads it meanwhile, so that there is only ever one. */
  async find(bridgeId: string): Promise<OpenBridge | undefined> {
    const known = this.touch(bridgeId);
    if (known !== undefined) return known;
    return await this.#dependencies.streams.run(`load ${bridgeId}`, async () => {
      const loaded = this.#bridges.get(bridgeId);
      if (loaded !== undefined) return loaded;
      const state = await this.#dependencies.formerState(bridgeId);
      // One that was opened meanwhile came without being loaded.
      const opened = this.#bridges.get(bridgeId);
      if (opened !== undefined || state === undefined || state.lifecycle === 'stopped') return opened;
      const bridge = restoredBridge(state);
      this.add(bridge);
      return bridge;
    });
  }

  /** Runs a task with a bridge that stays in memory meanwhile. */
  async using<Result>(bridge: OpenBridge, task: () => Promise<Result>): Promise<Result> {
    bridge.users += 1;
    try {
      return await task();
    } finally {
      bridge.users -= 1;
      assert(bridge.users >= 0, 'a bridge is given back once');
    }
  }

  /** What has just come stays, also where everything else has something under way. */
  #makeRoomFor(added: OpenBridge): void {
    const { bridgesInMemoryMax = IN_MEMORY_MAX } = this.#dependencies;
    let left = LOOKED_AT_MAX;
    for (const [bridgeId, bridge] of this.#bridges) {
      if (this.#bridges.size <= bridgesInMemoryMax || left === 0) return;
      left -= 1;
      this.#bridges.delete(bridgeId);
      if (bridge === added || !isAtRest(bridge)) this.#bridges.set(bridgeId, bridge);
    }
  }
}

/** Whether all that is known of it is in the log, and nothing waits for it. */
function isAtRest(bridge: OpenBridge): boolean {
  const { turn, through } = stateOf(bridge);
  return (
    bridge.users === 0 &&
    !bridge.isUnsure &&
    turn === undefined &&
    bridge.accepted === through &&
    bridge.cancelFlush === undefined &&
    bridge.cancelAbandonment === undefined
  );
}
