/*
 * Reads everything back through the target's own reads. What differs is a failure, unless a later event of
 * the log is about the same thing: then the log has simply gone on since, and what it has is kept.
 */
import { inBatches } from './batches.ts';
import { digestOfItem } from './content.ts';
import type { MigrationItem } from './items.ts';
import type { Settled } from './report.ts';
import type { MigrationTarget, SeenEvent } from './target.ts';

/** An item and what was done with it; with its seq where it was in the log by its id. */
export interface Placed extends Settled {
  seq?: number;
}

export async function verify(
  target: MigrationTarget,
  placed: readonly Placed[],
  { batchSize, onVerified }: { batchSize: number; onVerified: (done: number) => void },
): Promise<Settled[]> {
  const differing = new Set<Placed>();
  let done = 0;
  for (const batch of inBatches(placed, batchSize)) {
    const mustBeEqual = batch.filter(({ outcome }) => outcome === 'broughtIn' || outcome === 'alreadyThere');
    const found = await target.digests(mustBeEqual.map(({ item: { kind, key } }) => ({ kind, key })));
    mustBeEqual.forEach((entry, place) => {
      if (found[place] !== digestOfItem(entry.item)) differing.add(entry);
    });
    done += batch.length;
    onVerified(done);
  }
  if (differing.size === 0) return [...placed];
  const changed = await changedSince(target, [...differing]);
  return placed.map((entry): Settled => {
    if (!differing.has(entry)) return entry;
    if (changed.has(entry)) {
      return { item: entry.item, outcome: 'kept', reason: 'the log has gone on since it was brought in' };
    }
    return { item: entry.item, outcome: 'failed', reason: 'what was read back is not what was brought in' };
  });
}

/** Those of the items that a later event of the log is about. */
async function changedSince(target: MigrationTarget, entries: readonly Placed[]): Promise<Set<Placed>> {
  const changed = new Set<Placed>();
  const awaited: { entry: Placed; seq: number }[] = [];
  for (const entry of entries) {
    const { seq } = entry;
    // What is not in the log by its id was there by other means before, and is now something else.
    if (seq === undefined) changed.add(entry);
    else awaited.push({ entry, seq });
  }
  if (awaited.length === 0) return changed;
  const from = Math.min(...awaited.map(({ seq }) => seq)) + 1;
  for await (const event of target.read(from)) {
    for (const { entry, seq } of awaited) {
      if (event.seq > seq && isAbout(event, entry.item)) changed.add(entry);
    }
  }
  return changed;
}

function isAbout(event: SeenEvent, { kind, key, stream }: MigrationItem): boolean {
  if (event.stream === stream) return true;
  const { data } = event;
  if (kind === 'session') return 'sessionKey' in data && data.sessionKey === key;
  if (kind === 'transcript') return false;
  return ('conversationKey' in data && data.conversationKey === key) || ('to' in data && data.to === key);
}
