import { BRIDGE_MACHINE_VERSION, type BridgeState, evolve, isFact } from '@turnlog/bridge';
import type { CommittedEvent } from '@turnlog/events';
import type { Projection, TableReader, TableWriter } from '@turnlog/projections';

const BRIDGE = 'bridge';
const OPEN = 'open';

/**
 * The state of every bridge's machine, for recovery; it has no file. A bridge that has stopped keeps its
 * row: a late report of one of its turns is recognized by it.
 */
export const bridgesProjection: Projection = {
  name: 'bridges',
  version: BRIDGE_MACHINE_VERSION,
  async evolve(tables: TableWriter, event: CommittedEvent) {
    if (!isFact(event)) return;
    const { bridgeId } = event.data;
    const before = await tables.get<BridgeState>(BRIDGE, bridgeId);
    const after = evolve(before, event);
    if (after === before) return;
    tables.put(BRIDGE, bridgeId, rowOf(after));
    if (after.lifecycle === 'stopped') tables.delete(OPEN, bridgeId);
    else if (before === undefined || before.lifecycle === 'stopped') tables.put(OPEN, bridgeId, true);
  },
};

/**
 * Without the fields that are undefined: read back they are not there, and a field that is set again would
 * then come last. A row must be the same bytes whether its state was read or still in memory.
 */
function rowOf(state: BridgeState): Partial<BridgeState> {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined));
}

export async function loadBridge(tables: TableReader, bridgeId: string): Promise<BridgeState | undefined> {
  return await tables.get<BridgeState>(BRIDGE, bridgeId);
}

/** The bridges that had not stopped, by which a daemon goes on where the one before it was killed. */
export async function loadOpenBridges(tables: TableReader): Promise<BridgeState[]> {
  const states: BridgeState[] = [];
  for await (const [bridgeId] of tables.range(OPEN)) {
    const state = await loadBridge(tables, bridgeId);
    if (state !== undefined) states.push(state);
  }
  return states;
}
