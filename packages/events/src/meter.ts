/*
 * The usage meter: a pure fold over what providers report, which the bridge and the projection of sessions
 * share. What it holds to:
 * - the figure is absolute, never above the window, and never falls to 0: it is known or it is unknown;
 * - it falls only at a compaction or where an authoritative report says so;
 * - a report that comes twice changes nothing.
 */
import type { EventData } from './catalogue/index.ts';
import { assert } from './errors.ts';
import { isAuthoritative, type Sample, sampleOf, tokenCount, windowCount } from './meter-sample.ts';
import {
  capped,
  knownFigure,
  METER_MODELS_MAX,
  type MeterState,
  NO_TURN,
  type TurnTally,
  tallyOf,
  withTally,
} from './meter-state.ts';
import type { UsageReport } from './schema.ts';

/** Providers of which a compaction may be inferred from their figures alone. */
const INFERRED_FOR: ReadonlySet<string> = new Set(['codex', 'crewcoder', 'opencode', 'grok']);
/** A report under this part of the last figure may tell of a compaction. */
const STEEP_DROP = 0.6;
/** Nobody compacts a context that is less full than this part of its window. */
const NEARLY_FULL = 0.8;
/** How near, as a part of it, a figure must come to another to count as the same. */
const NEARNESS = 0.1;

export interface ReportedUsage {
  provider: string;
  turnId?: string;
  usage: UsageReport;
}

export interface MeterReading {
  meter: MeterState;
  /** A compaction that nobody reported and that the figures show. */
  detected?: { beforeTokens: number; afterTokens: number };
}

/** The meter after a report of usage. */
export function reportUsage(meter: MeterState, { provider, turnId, usage }: ReportedUsage): MeterReading {
  const window = windowOf(meter, usage);
  const last = knownFigure(meter, window);
  const sample = sampleOf(provider, usage, window);
  const seen = withModel(meter, usage, window);
  if (sample.implausibleTokens !== undefined) {
    return { meter: settled(seen, last, meter.beforeRiseTokens, sample.implausibleTokens) };
  }

  const tally = tallyOf(meter.turns, turnId);
  const output = outputOf(tally, usage);
  const verdict = judge(meter, { provider, usage, window, last, sample: sample.contextTokens, tally });
  const figure = verdict.keeps ? capped((last ?? 0) + output.grown, window) : sample.contextTokens;
  const counted = { ...verdict.tally, outputTokens: output.counted };
  const { heldTokens: _, ...unheld } = seen;
  const held = verdict.heldTokens === undefined ? {} : { heldTokens: verdict.heldTokens };
  const next = settled(
    { ...unheld, ...held, turns: withTally(meter.turns, counted) },
    verdict.keeps && last === undefined ? undefined : figure,
    verdict.beforeRiseTokens,
  );
  if (verdict.detected !== true) return { meter: next };
  assert(last !== undefined && figure !== undefined, 'a detected compaction has both figures');
  return { meter: next, detected: { beforeTokens: last, afterTokens: figure } };
}

type CompactionFact = {
  [Type in 'compaction_completed' | 'compaction_detected']: { type: Type; data: EventData<Type> };
}['compaction_completed' | 'compaction_detected'];

/**
 * The meter after a compaction that is told of. A boundary makes the figure unknown; one that says itself
 * that it freed little, or that it resets nothing, leaves it. One that was only detected leaves the figure
 * to the reports, and is not counted again where the meter saw it first.
 */
export function compactMeter(meter: MeterState, { type, data }: CompactionFact): MeterState {
  const tally = tallyOf(meter.turns, data.turnId);
  const last = knownFigure(meter, meter.contextWindow);
  if (type === 'compaction_detected') {
    const { inferred, ...rest } = tally;
    const told = inferred || last === undefined ? rest : { ...rest, announcedTokens: last };
    return { ...meter, turns: withTally(meter.turns, told) };
  }
  if (!isBoundary(data, last)) return meter;
  const {
    contextTokens: _,
    beforeRiseTokens: __,
    heldTokens: ___,
    implausibleTokens: ____,
    ...unknown
  } = meter;
  const told = { ...tally, native: true as const, ...(last !== undefined && { announcedTokens: last }) };
  return { ...unknown, turns: withTally(meter.turns, told) };
}

function isBoundary(data: EventData<'compaction_completed'>, last: number | undefined): boolean {
  if (data.resetContext === true || data.summary !== undefined) return true;
  if (data.resetContext === false || data.source === 'inferred') return false;
  const before = tokenCount(data.beforeTokens) ?? last;
  const after = tokenCount(data.afterTokens);
  if (before === undefined || before === 0 || after === undefined) return true;
  return after < STEEP_DROP * before;
}

interface Judged {
  provider: string;
  usage: UsageReport;
  window: number | undefined;
  last: number | undefined;
  sample: number | undefined;
  tally: TurnTally;
}

interface Verdict {
  /** The report is an under-report: the last figure stays, and only new output is added. */
  keeps: boolean;
  detected?: true;
  beforeRiseTokens: number | undefined;
  /** The under-report that is held. */
  heldTokens: number | undefined;
  tally: TurnTally;
}

function judge(meter: MeterState, report: Judged): Verdict {
  const { last, sample, tally } = report;
  const { beforeRiseTokens } = meter;
  const keep = { keeps: true, beforeRiseTokens, heldTokens: sample ?? meter.heldTokens, tally };
  if (sample === undefined) return keep;
  const take = {
    keeps: false,
    beforeRiseTokens: undefined,
    heldTokens: undefined,
    tally: shown(tally, sample),
  };
  if (last === undefined) return take;
  if (sample === last) return { ...take, beforeRiseTokens };
  if (sample > last) return { ...take, beforeRiseTokens: last };
  if (isAuthoritative(report.provider, report.usage)) return take;
  if (sample >= STEEP_DROP * last) return keep;
  if (tally.announcedTokens !== undefined && last >= (1 - NEARNESS) * tally.announcedTokens) {
    return { ...take, tally: withoutAnnouncement(tally) };
  }
  if (tally.native || !mayInfer(report, last)) return keep;
  // What was held before has not fallen since: its output alone may have filled the window in between.
  if (isNear(sample, meter.heldTokens)) return keep;
  if (isNear(sample, beforeRiseTokens)) return { ...keep, beforeRiseTokens: sample };
  return { ...take, detected: true, tally: { ...tally, inferred: true } };
}

function mayInfer({ provider, window }: Judged, last: number): boolean {
  return INFERRED_FOR.has(provider) && window !== undefined && last >= NEARLY_FULL * window;
}

function isNear(sample: number, figure: number | undefined): boolean {
  return figure !== undefined && Math.abs(sample - figure) <= NEARNESS * figure;
}

/** The drop of a compaction that was told of is seen once. */
function shown(tally: TurnTally, sample: number): TurnTally {
  const { announcedTokens } = tally;
  const isShown = announcedTokens !== undefined && sample < STEEP_DROP * announcedTokens;
  return isShown ? withoutAnnouncement(tally) : tally;
}

function withoutAnnouncement({ announcedTokens: _, ...tally }: TurnTally): TurnTally {
  return tally;
}

/** Output is reported as it grows within a turn. Without a turn, less than before is a new answer. */
function outputOf(tally: TurnTally, usage: UsageReport): { grown: number; counted: number } {
  const output = tokenCount(usage.outputTokens) ?? tally.outputTokens;
  if (output >= tally.outputTokens) return { grown: output - tally.outputTokens, counted: output };
  return tally.turnId === NO_TURN
    ? { grown: output, counted: output }
    : { grown: 0, counted: tally.outputTokens };
}

function windowOf(meter: MeterState, usage: UsageReport): number | undefined {
  const reported = windowCount(usage.contextWindow);
  if (reported !== undefined) return reported;
  const { model } = usage;
  if (model === undefined || model === meter.model || meter.model === undefined) {
    return windowCount(meter.contextWindow);
  }
  return meter.windows.find(([name]) => name === model)?.[1];
}

function withModel(meter: MeterState, usage: UsageReport, window: number | undefined): MeterState {
  const { contextWindow: _, ...rest } = meter;
  const model = usage.model ?? meter.model;
  const others = meter.windows.filter(([name]) => name !== model);
  const windows =
    model === undefined || window === undefined
      ? meter.windows
      : [...others, [model, window] as const].slice(-METER_MODELS_MAX);
  return {
    ...rest,
    ...(window !== undefined && { contextWindow: window }),
    ...(model !== undefined && { model }),
    windows,
  };
}

function settled(
  meter: MeterState,
  figure: number | undefined,
  beforeRiseTokens: number | undefined,
  implausibleTokens?: Sample['implausibleTokens'],
): MeterState {
  const { contextTokens: _, beforeRiseTokens: __, implausibleTokens: ___, ...rest } = meter;
  assert(figure === undefined || figure > 0, 'a figure that is known is above 0');
  assert(figure === undefined || figure <= (rest.contextWindow ?? figure), 'a figure fits its window');
  return {
    ...rest,
    ...(figure !== undefined && { contextTokens: figure }),
    ...(beforeRiseTokens !== undefined && { beforeRiseTokens }),
    ...(implausibleTokens !== undefined && { implausibleTokens }),
  };
}
