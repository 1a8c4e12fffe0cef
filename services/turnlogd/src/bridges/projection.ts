import { BRIDGE_MACHINE_VERSION, type BridgeState, evolve, isFact } from '@turnlog/bridge';
import type { CommittedEvent } from '@turnlog/events';
import type { Projection, TableReader, TableWriter } from '@turnlog/projections';

const BRIDGE = 'bridge';
const OPEN = 'open';
const IN_TURN = 'in_turn';
const COUNT = 'count';

/** Another number where the tables change, as the machine's own does where its state changes. */
const TABLES_VERSION = 2;

/**
 * The state of every bridge's machine, for recovery; it has no file. A bridge that has stopped keeps its
 * row: a late report of one of its turns is recognized by it. Those that are open, and those of them with an
 * open turn, are listed, so that nobody has to look at all of them.
 */
export const bridgesProjection: Projection = {
  name: 'bridges',
  version: BRIDGE_MACHINE_VERSION * 100 + TABLES_VERSION,
  async evolve(tables: TableWriter, event: CommittedEvent) {
    if (!isFact(event)) return;
    const { bridgeId } = event.data;
    const before = await tables.get<BridgeState>(BRIDGE, bridgeId);
    const after = evolve(before, event);
    if (after === before) return;
    tables.put(BRIDGE, bridgeId, rowOf(after));
    if (isOpen(after) !== isOpen(before)) {
      list(tables, OPEN, bridgeId, isOpen(after));
      tables.put(COUNT, OPEN, (await countOpenBridges(tables)) + (isOpen(after) ? 1 : -1));
    }
    if (isInTurn(after) !== isInTurn(before)) list(tables, IN_TURN, bridgeId, isInTurn(after));
  },
};

function isOpen(state: BridgeState | undefined): boolean {
  return state !== undefined && state.lifecycle !== 'stopped';
}

function isInTurn(state: BridgeState | undefined): boolean {
  return isOpen(state) && state?.turn !== undefined;
}

function list(tables: TableWriter, table: string, bridgeId: string, isListed: boolean): void {
  if (isListed) tables.put(table, bridgeId, true);
  else tables.delete(table, bridgeId);
}

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

/** The bridges whose turn is open, by which a daemon goes on where the one before it was killed. */
export async function loadBridgesInTurn(tables: TableReader): Promise<BridgeState[]> {
  return await loadListed(tables, IN_TURN);
}

/** The bridges that have not stopped, some of them, in the order of their ids. */
export async function loadOpenBridges(
  tables: TableReader,
  page: { after?: string; limit: number },
): Promise<BridgeState[]> {
  return await loadListed(tables, OPEN, page);
}

export async function countOpenBridges(tables: TableReader): Promise<number> {
  return (await tables.get<number>(COUNT, OPEN)) ?? 0;
}

async function loadListed(
  tables: TableReader,
  table: string,
  page: { after?: string; limit?: number } = {},
): Promise<BridgeState[]> {
  const states: BridgeState[] = [];
  for await (const [bridgeId] of tables.range(table, page)) {
    const state = await loadBridge(tables, bridgeId);
    if (state !== undefined) states.push(state);
  }
  return states;
}
