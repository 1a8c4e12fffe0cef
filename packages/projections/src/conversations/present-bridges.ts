import type { TableReader, TableWriter } from '../engine/projection.ts';
import { PRESENT_BRIDGES } from './tables.ts';

// A bridge that was there before a clear still has in its context what was cleared, whether it began a turn or
// took up an old session. Until it begins a turn of the new conversation, a summary of its own tells of the
// old one and must not come into the shard.

/** How many bridges of a conversation are remembered; they leave as they stop. */
const PRESENT_BRIDGES_MAX = 256;

interface PresentBridge {
  bridgeId: string;
  /** It was there before the conversation was last cleared, and has begun no turn since. */
  isStale: boolean;
}

/** A bridge was opened for the conversation, or began a turn of it. */
export async function bridgeIsPresent(
  tables: TableWriter,
  conversationKey: string,
  bridgeId: string,
): Promise<void> {
  const known = await presentBridges(tables, conversationKey);
  if (known.some((bridge) => bridge.bridgeId === bridgeId && !bridge.isStale)) return;
  const others = known.filter((bridge) => bridge.bridgeId !== bridgeId);
  const all = [...others, { bridgeId, isStale: false }].slice(-PRESENT_BRIDGES_MAX);
  tables.put(PRESENT_BRIDGES, conversationKey, all);
}

export async function bridgeHasGone(
  tables: TableWriter,
  conversationKey: string,
  bridgeId: string,
): Promise<void> {
  const known = await presentBridges(tables, conversationKey);
  const others = known.filter((bridge) => bridge.bridgeId !== bridgeId);
  if (others.length === known.length) return;
  if (others.length === 0) tables.delete(PRESENT_BRIDGES, conversationKey);
  else tables.put(PRESENT_BRIDGES, conversationKey, others);
}

/** The conversation was cleared. */
export async function makeBridgesStale(tables: TableWriter, conversationKey: string): Promise<void> {
  const known = await presentBridges(tables, conversationKey);
  if (known.every(({ isStale }) => isStale)) return;
  tables.put(
    PRESENT_BRIDGES,
    conversationKey,
    known.map((bridge) => ({ ...bridge, isStale: true })),
  );
}

export async function isStaleBridge(
  tables: TableReader,
  conversationKey: string,
  bridgeId: string,
): Promise<boolean> {
  const known = await presentBridges(tables, conversationKey);
  return known.some((bridge) => bridge.bridgeId === bridgeId && bridge.isStale);
}

async function presentBridges(
  tables: TableReader,
  conversationKey: string,
): Promise<readonly PresentBridge[]> {
  return (await tables.get<readonly PresentBridge[]>(PRESENT_BRIDGES, conversationKey)) ?? [];
}
