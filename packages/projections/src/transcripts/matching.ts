import { growthOf } from './growth.ts';
import type { TranscriptRow } from './identity.ts';
import type { KnownRow, SaveState } from './save-state.ts';

// Which row of an incoming array is which row that the transcript holds. Each goes to one at most. The
// surest signs come first: the whole content, the identity, a content that the row had before, the place.

/** How far after its neighbour a row is looked for by its place. */
const PLACES_MAX = 16;

/** The pairs found so far, by index in the two arrays. */
export class Matching {
  /** By incoming index. */
  readonly #known: (number | undefined)[];
  /** By index of the known row. */
  readonly #incoming: (number | undefined)[];

  readonly #setAside = new Set<number>();

  constructor(incomingCount: number, knownCount: number) {
    this.#known = new Array<number | undefined>(incomingCount).fill(undefined);
    this.#incoming = new Array<number | undefined>(knownCount).fill(undefined);
  }

  /** The index of the known row that an incoming one is; undefined where it is none. */
  knownOf(incoming: number): number | undefined {
    return this.#known[incoming];
  }

  isClaimed(known: number): boolean {
    return this.#incoming[known] !== undefined;
  }

  /** Whether an incoming row was taken away before and must not come back. */
  isSetAside(incoming: number): boolean {
    return this.#setAside.has(incoming);
  }

  setAside(incoming: number): void {
    this.#setAside.add(incoming);
  }

  pair(incoming: number, known: number): void {
    this.#known[incoming] = known;
    this.#incoming[known] = incoming;
  }
}

/** @param base the seq that the client had loaded, if it said so */
export function matchRows(
  state: SaveState,
  incoming: readonly TranscriptRow[],
  base: number | undefined,
): Matching {
  const known = state.rows;
  const matching = new Matching(incoming.length, known.length);
  matchAlike(matching, known, incoming, {
    ofKnown: (row) => [row.content],
    ofIncoming: (row) => row.content,
  });
  matchAlike(matching, known, incoming, {
    ofKnown: (row) => [row.identity],
    ofIncoming: (row) => row.identity,
  });
  matchAlike(matching, known, incoming, {
    ofKnown: (row) => row.history,
    ofIncoming: (row) => (row.isDurable ? undefined : row.content),
  });
  setAsideTombstoned(matching, state, incoming, base);
  matchByPlace(matching, known, incoming, base);
  return matching;
}

/** What rows have in common that are one and the same. */
interface Keys {
  ofKnown(row: KnownRow): readonly string[];
  ofIncoming(row: TranscriptRow): string | undefined;
}

/** Known rows that are alike, by their place; those before the cursor are all claimed. */
interface Alike {
  places: number[];
  cursor: number;
  /** How many incoming rows are like them. */
  incoming: number;
}

/**
 * Pairs rows that have a key in common. Of rows that are alike, those between the same matched neighbours
 * belong together; what is left goes by its ordinal.
 */
function matchAlike(
  matching: Matching,
  known: readonly KnownRow[],
  incoming: readonly TranscriptRow[],
  keys: Keys,
): void {
  const groups = groupAlike(matching, known, keys);
  if (groups.size === 0) return;
  const open: { at: number; alike: Alike }[] = [];
  incoming.forEach((row, at) => {
    if (matching.knownOf(at) !== undefined) return;
    const key = keys.ofIncoming(row);
    const alike = key === undefined ? undefined : groups.get(key);
    if (alike === undefined) return;
    alike.incoming += 1;
    open.push({ at, alike });
  });

  // First what can be nothing else, so that it bounds the rest.
  for (const { at, alike } of open) {
    if (alike.places.length === 1 && alike.incoming === 1) claim(matching, at, alike, -1, known.length);
  }
  const bounds = boundsAbove(matching, incoming.length, known.length);
  let lower = -1;
  let next = 0;
  for (const { at, alike } of open) {
    for (; next < at; next += 1) lower = matching.knownOf(next) ?? lower;
    claim(matching, at, alike, lower, bounds[at] ?? known.length);
  }
  for (const { at, alike } of open) claim(matching, at, alike, -1, known.length);
}

function groupAlike(matching: Matching, known: readonly KnownRow[], keys: Keys): Map<string, Alike> {
  const groups = new Map<string, Alike>();
  known.forEach((row, place) => {
    if (matching.isClaimed(place)) return;
    for (const key of new Set(keys.ofKnown(row))) {
      const alike = groups.get(key);
      if (alike === undefined) groups.set(key, { places: [place], cursor: 0, incoming: 0 });
      else alike.places.push(place);
    }
  });
  return groups;
}

/** Pairs an incoming row, unless it has its pair, with the first free one of those between the bounds. */
function claim(matching: Matching, at: number, alike: Alike, lower: number, upper: number): void {
  if (matching.knownOf(at) !== undefined) return;
  const { places } = alike;
  while (alike.cursor < places.length && matching.isClaimed(places[alike.cursor] as number))
    alike.cursor += 1;
  for (let index = alike.cursor; index < places.length; index += 1) {
    const place = places[index] as number;
    if (place >= upper) return;
    if (place <= lower || matching.isClaimed(place)) continue;
    matching.pair(at, place);
    return;
  }
}

/** For each incoming index the known index of the next matched row at or after it. */
function boundsAbove(matching: Matching, incomingCount: number, knownCount: number): number[] {
  const bounds = new Array<number>(incomingCount).fill(knownCount);
  let bound = knownCount;
  for (let at = incomingCount - 1; at >= 0; at -= 1) {
    bound = matching.knownOf(at) ?? bound;
    bounds[at] = bound;
  }
  return bounds;
}

/**
 * Sets aside the rows that were taken away after the client had loaded them: all with a durable identity
 * that was, and of those without as many as were.
 */
function setAsideTombstoned(
  matching: Matching,
  state: SaveState,
  incoming: readonly TranscriptRow[],
  base: number | undefined,
): void {
  if (state.tombstones.size === 0) return;
  const left = new Map<string, number>();
  incoming.forEach((row, at) => {
    if (matching.knownOf(at) !== undefined) return;
    const hash = row.isDurable ? row.identity : row.content;
    const tombstone = state.tombstones.get(hash);
    if (tombstone === undefined || (base !== undefined && base >= tombstone.seq)) return;
    const count = left.get(hash) ?? tombstone.count;
    if (count === 0) return;
    matching.setAside(at);
    if (!row.isDurable) left.set(hash, count - 1);
  });
}

/**
 * Pairs rows without durable identity by where they stand: the first fitting row after the matched
 * neighbour. It must have been there when the client loaded, or the incoming row must be the same work gone on
 * (or not yet so far). What a user wrote never grows by itself.
 */
function matchByPlace(
  matching: Matching,
  known: readonly KnownRow[],
  incoming: readonly TranscriptRow[],
  base: number | undefined,
): void {
  let neighbour = -1;
  incoming.forEach((row, at) => {
    const matched = matching.knownOf(at);
    if (matched !== undefined) {
      neighbour = matched;
      return;
    }
    if (row.isDurable || matching.isSetAside(at)) return;
    const end = Math.min(known.length, neighbour + 1 + PLACES_MAX);
    for (let place = neighbour + 1; place < end && !matching.isClaimed(place); place += 1) {
      const candidate = known[place];
      if (candidate === undefined || !fits(candidate, row, base)) continue;
      matching.pair(at, place);
      neighbour = place;
      return;
    }
  });
}

function fits(candidate: KnownRow, row: TranscriptRow, base: number | undefined): boolean {
  if (candidate.row === undefined || candidate.row.isDurable) return false;
  const { kind, turnId } = row.fields;
  if (typeof kind !== 'string' || candidate.row.fields.kind !== kind) return false;
  if (candidate.row.fields.turnId !== turnId) return false;
  if (base !== undefined && candidate.createdSeq <= base) return true;
  return (
    kind !== 'user' &&
    (growthOf(candidate.row.value, row.value) !== 'other' ||
      growthOf(row.value, candidate.row.value) !== 'other')
  );
}
