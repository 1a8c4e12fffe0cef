import type { BridgeState } from '@turnlog/bridge';
import { getMeter, type Projections, type TableReader } from '@turnlog/projections';
import type { BridgeDependencies } from './bridge-dependencies.ts';
import { countOpenBridges, loadBridge, loadBridgesInTurn, loadOpenBridges } from './projection.ts';

/** How many bridges are read at once; what is listed may change between two reads. */
const STATES_AT_ONCE = 200;

export type BridgeReads = Pick<BridgeDependencies, 'formerState' | 'openStates' | 'countOpen' | 'meterOf'> & {
  inTurn(): Promise<BridgeState[]>;
};

/** What the bridges read of the projections; each read sees everything acknowledged before it. */
export function bridgeReads(projections: Pick<Projections, 'read'>): BridgeReads {
  async function read<Value>(task: (tables: TableReader) => Promise<Value>): Promise<Value> {
    return (await projections.read('bridges', task)).value;
  }
  return {
    formerState: (bridgeId) => read((tables) => loadBridge(tables, bridgeId)),
    inTurn: () => read(loadBridgesInTurn),
    countOpen: () => read(countOpenBridges),
    async *openStates(after) {
      let last = after;
      for (;;) {
        const page = { limit: STATES_AT_ONCE, ...(last !== undefined && { after: last }) };
        const states = await read((tables) => loadOpenBridges(tables, page));
        if (states.length > 0) yield states;
        last = states.at(-1)?.bridgeId;
        if (states.length < STATES_AT_ONCE) return;
      }
    },
    meterOf: async (sessionKey) =>
      (await projections.read('sessions', (tables) => getMeter(tables, sessionKey))).value,
  };
}
