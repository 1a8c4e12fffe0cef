import { assert, type EventData } from '@turnlog/events';
import { growthOf } from './growth.ts';
import type { TranscriptRow } from './identity.ts';
import { longestRise } from './longest-rise.ts';
import { type Matching, matchRows } from './matching.ts';
import type { KnownRow, SaveState } from './save-state.ts';

/** A client's whole array, and the seq that it had loaded before it changed it. */
export interface Save {
  rows: readonly TranscriptRow[];
  /** Without it the client may know nothing of what the transcript holds: nothing is taken away. */
  base?: number;
}

type SavedRow = EventData<'transcript_saved'>['rows'][number];

/**
 * Decides what a save changes. Pure; what it answers grows with the change and not with the array.
 *
 * A row that the transcript holds and that was there at `base`, but is not in the array, is taken away; a
 * row that others added after `base` stays. A row that others changed after `base` is not set back by a
 * copy that the client has not changed. A row that was taken away after `base` does not come back; without
 * a base that holds for all that ever were. Nothing is revived by a save older than a removal of the whole.
 *
 * @returns undefined where nothing changes, and nothing is to be logged
 */
export function decideSave(state: SaveState, save: Save): EventData<'transcript_saved'> | undefined {
  const { base } = save;
  if (base !== undefined && base < state.removedSeq) return undefined;

  const matching = matchRows(state, save.rows, base);
  const goes = state.rows.map(
    (row, place) => !matching.isClaimed(place) && base !== undefined && row.createdSeq <= base,
  );
  const rows = changedRows(state, save, matching, goes);
  const removed = state.rows.filter((_, place) => goes[place]).map(({ rowId }) => rowId);

  const isBegun = !state.exists && save.rows.length === 0 && (base !== undefined || state.removedSeq === 0);
  if (rows.length === 0 && removed.length === 0 && !isBegun) return undefined;
  return { scopeId: state.scopeId, rows, removed, ...(base !== undefined && { base }) };
}

/** The rows that are new, changed or moved, each after the one that it follows. */
function changedRows(
  state: SaveState,
  { rows: incoming, base }: Save,
  matching: Matching,
  goes: readonly boolean[],
): SavedRow[] {
  const matched = incoming.flatMap((_, at) => (matching.knownOf(at) === undefined ? [] : [at]));
  const rise = longestRise(matched.map((at) => matching.knownOf(at) as number));
  const inOrder = rise.map((index) => matched[index] as number);
  const lastInOrder = inOrder.at(-1) ?? -1;
  const steady = new Set(inOrder);
  // Only a client that had loaded where a row stands can have moved it.
  const moving = new Set(
    matched.filter(
      (at) => !steady.has(at) && base !== undefined && knownAt(state, matching, at).placedSeq <= base,
    ),
  );
  const movingPlaces = new Set([...moving].map((at) => matching.knownOf(at)));
  let last = state.rows.findLast((_, place) => !goes[place] && !movingPlaces.has(place))?.rowId ?? 0;
  let previous = 0;
  let lastRowId = state.lastRowId;
  const changed: SavedRow[] = [];
  const place = (rowId: number, after: number, row: TranscriptRow) => {
    changed.push({ rowId, after, row: row.json });
    if (after === last) last = rowId;
    previous = rowId;
  };

  incoming.forEach((row, at) => {
    if (matching.isSetAside(at)) return;
    if (matching.knownOf(at) === undefined) {
      lastRowId += 1;
      place(lastRowId, at > lastInOrder ? last : previous, row);
      return;
    }
    const known = knownAt(state, matching, at);
    const replaces = isReplaced(state, known, row, base);
    if (moving.has(at)) {
      // A copy that is not newer takes the place, but not the content.
      const content = replaces || known.content === row.content ? row : known.row;
      assert(content !== undefined, `the content of row ${known.rowId} was loaded`);
      place(known.rowId, previous, content);
      return;
    }
    if (replaces) changed.push({ rowId: known.rowId, row: row.json });
    previous = known.rowId;
  });
  return changed;
}

function knownAt(state: SaveState, matching: Matching, at: number): KnownRow {
  const row = state.rows[matching.knownOf(at) ?? -1];
  assert(row !== undefined, 'a matched row is known');
  return row;
}

/** Whether the client's content takes the place of what the transcript holds. */
function isReplaced(
  state: SaveState,
  known: KnownRow,
  row: TranscriptRow,
  base: number | undefined,
): boolean {
  if (known.content === row.content) return false;
  // The same but for its display time, which is no change where nothing else names the row.
  if (!row.isDurable && known.identity === row.identity) return false;
  // The client had loaded what the transcript holds, so the difference is its own.
  if (base !== undefined && known.updatedSeq <= base) return true;
  const tombstone = state.tombstones.get(row.content);
  if (tombstone !== undefined && (base === undefined || base < tombstone.seq)) return false;
  const wasThis = known.history.includes(row.content);
  assert(known.row !== undefined, `the content of row ${known.rowId} was loaded`);
  const hasOutgrown = growthOf(row.value, known.row.value) === 'grown';
  // Without a base a durable row is set back by whoever says so, unless its work has merely gone on since.
  if (row.isDurable && base === undefined) return !(wasThis && hasOutgrown);
  return !(wasThis || hasOutgrown);
}
