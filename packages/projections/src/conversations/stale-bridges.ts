import type { TableWriter } from '../engine/projection.ts';
import { STALE_BRIDGES } from './tables.ts';

// A bridge that was there before a clear still has in its context what was cleared. Until it begins a turn
// of the new conversation, a summary of its own tells of the old one and must not come into the shard.

/** How many bridges of a conversation are remembered. */
const STALE_BRIDGES_MAX = 256;

export async function addStaleBridges(
  tables: TableWriter,
  conversationKey: string,
  bridgeIds: Iterable<string>,
): Promise<void> {
  const known = await staleBridgesOf(tables, conversationKey);
  const all = [...new Set([...known, ...bridgeIds])].slice(-STALE_BRIDGES_MAX);
  if (all.length > known.length) tables.put(STALE_BRIDGES, conversationKey, all);
}

export async function removeStaleBridge(
  tables: TableWriter,
  conversationKey: string,
  bridgeId: string,
): Promise<void> {
  const known = await staleBridgesOf(tables, conversationKey);
  if (!known.includes(bridgeId)) return;
  const others = known.filter((other) => other !== bridgeId);
  if (others.length === 0) tables.delete(STALE_BRIDGES, conversationKey);
  else tables.put(STALE_BRIDGES, conversationKey, others);
}

export async function isStaleBridge(
  tables: TableWriter,
  conversationKey: string,
  bridgeId: string,
): Promise<boolean> {
  return (await staleBridgesOf(tables, conversationKey)).includes(bridgeId);
}

async function staleBridgesOf(tables: TableWriter, conversationKey: string): Promise<readonly string[]> {
  return (await tables.get<readonly string[]>(STALE_BRIDGES, conversationKey)) ?? [];
}
