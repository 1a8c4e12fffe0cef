import { tokenCount, windowCount } from './meter-sample.ts';
import type { UsageSnapshot } from './schema.ts';

/** How many models' windows are remembered. */
export const METER_MODELS_MAX = 16;
/** How many turns' outputs are remembered, so that a late report does not count twice. */
export const METER_TURNS_MAX = 8;
/** The turn of reports that come before any turn is known. */
export const NO_TURN = '';

export interface TurnTally {
  turnId: string;
  /** Output tokens of the turn that the figure holds already. */
  outputTokens: number;
  /** A boundary was reported in this turn: nothing is inferred in it any more. */
  native?: true;
  /** A compaction was inferred in this turn, and its own event has not come by yet. */
  inferred?: true;
  /** The figure before a compaction that is told of already, until a report shows its drop. */
  announcedTokens?: number;
}

/** Plain values only: it lives in tables. */
export interface MeterState {
  /** What the context holds; absent while that is unknown. */
  contextTokens?: number;
  contextWindow?: number;
  model?: string;
  /** The window last reported for each model, the latest last. */
  windows: readonly (readonly [model: string, contextWindow: number])[];
  /** The latest turns, the current one last. */
  turns: readonly TurnTally[];
  /** The figure before the rise to the present one. */
  beforeRiseTokens?: number;
  /** The last report, where it was taken for an under-report: the same again is one again. */
  heldTokens?: number;
  /** What the last report would have come to, where that was more than a context can hold. */
  implausibleTokens?: number;
}

/** A meter as it begins, or as a snapshot left it. A snapshot is kept as it came up to the next report. */
export function initialMeter(snapshot?: UsageSnapshot): MeterState {
  if (snapshot === undefined) return { windows: [], turns: [] };
  const { contextTokens, contextWindow, model } = snapshot;
  const known = windowCount(contextWindow);
  return {
    contextTokens,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(model !== undefined && { model }),
    windows: model !== undefined && known !== undefined ? [[model, known]] : [],
    turns: [],
  };
}

/** What is kept of a meter for the next start; undefined while the figure is unknown. */
export function snapshotOf(meter: MeterState): UsageSnapshot | undefined {
  const { contextTokens, contextWindow, model } = meter;
  if (contextTokens === undefined) return undefined;
  return {
    contextTokens,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(model !== undefined && { model }),
  };
}

/** A turn begins: its output counts anew, and reports that name no turn are of it. */
export function startTurn(meter: MeterState, turnId: string): MeterState {
  return { ...meter, turns: withTally(without(meter.turns, turnId), { turnId, outputTokens: 0 }) };
}

/** The last figure as far as it can be one: a snapshot may have brought anything. */
export function knownFigure(meter: MeterState, window: number | undefined): number | undefined {
  const tokens = tokenCount(meter.contextTokens);
  return tokens === undefined || tokens === 0 ? undefined : capped(tokens, window);
}

/** A figure is never above its window. */
export function capped(tokens: number, window: number | undefined): number {
  return window === undefined ? tokens : Math.min(tokens, window);
}

/** The tally of a turn, or of the current one where none is named. */
export function tallyOf(turns: readonly TurnTally[], turnId: string | undefined): TurnTally {
  const found = turnId === undefined ? turns.at(-1) : turns.find((turn) => turn.turnId === turnId);
  return found ?? { turnId: turnId ?? NO_TURN, outputTokens: 0 };
}

function without(turns: readonly TurnTally[], turnId: string): TurnTally[] {
  return turns.filter((turn) => turn.turnId !== turnId);
}

/** A turn keeps its place, so that a late report does not make it the current one. */
export function withTally(turns: readonly TurnTally[], tally: TurnTally): TurnTally[] {
  const place = turns.findIndex((turn) => turn.turnId === tally.turnId);
  return place === -1 ? [...turns, tally].slice(-METER_TURNS_MAX) : turns.with(place, tally);
}
