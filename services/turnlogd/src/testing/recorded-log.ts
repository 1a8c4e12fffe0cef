import type { Envelope, ReportedEvent } from '@turnlog/events';
import * as assert from 'uvu/assert';
import { markOf } from './recorded-host.ts';
import type { Entry } from './recorded-model.ts';

interface LoggedData {
  bridgeId?: string;
  turnId?: string;
  text?: string;
  thinking?: string;
  whole?: boolean;
  reason?: string;
}

export type Logged = Envelope<string, LoggedData>;
type ReportEntry = Entry & { kind: 'report' };

/** What must be in the log of every report that was said to be on disk. */
export function assertReportsLogged(
  log: readonly Logged[],
  journal: readonly Entry[],
  durable: (entry: ReportEntry) => boolean,
): void {
  for (const [bridgeLife, entries] of byBridgeLife(journal)) {
    const events = eventsOfLife(log, entries[0] as ReportEntry);
    let last = -1;
    for (const entry of entries.filter(durable)) {
      const found = factsOf(entry, events);
      if (found === undefined) continue;
      assert.is(found.length, 1, `${bridgeLife}: ${JSON.stringify(entry.report)} is in the log once`);
      // What a user wrote may become part of a turn that began before it.
      if (entry.report.type === 'prompt') continue;
      const place = found[0] as number;
      assert.ok(place >= last, `${bridgeLife}: ${JSON.stringify(entry.report)} keeps its order`);
      last = place;
    }
    const through = events.map(({ meta }) => meta.through ?? 0);
    assert.ok(
      through.every((number, index) => index === 0 || number >= (through[index - 1] ?? 0)),
      `${bridgeLife}: through never falls`,
    );
    assertDeltasLogged(bridgeLife, entries.filter(durable), events);
  }
}

/** One turn at a time in each conversation, whoever begins it. */
export function assertOneTurnAtATime(log: readonly Logged[]): void {
  const open = new Map<string, string>();
  for (const { stream, type, data, seq } of log) {
    const turn = `${data.bridgeId} ${data.turnId}`;
    if (type === 'turn_started') {
      assert.is(open.get(stream), undefined, `${stream}: no turn is open when ${turn} begins at ${seq}`);
      open.set(stream, turn);
    } else if ((type === 'turn_ended' || type === 'turn_interrupted') && open.get(stream) === turn) {
      open.delete(stream);
    }
  }
}

function byBridgeLife(journal: readonly Entry[]): Map<string, ReportEntry[]> {
  const lives = new Map<string, ReportEntry[]>();
  for (const entry of journal) {
    if (entry.kind !== 'report') continue;
    const name = `${entry.place.bridgeId}/${entry.life}`;
    lives.set(name, [...(lives.get(name) ?? []), entry]);
  }
  for (const entries of lives.values()) entries.sort((one, other) => one.number - other.number);
  return lives;
}

function eventsOfLife(log: readonly Logged[], { place, life }: ReportEntry): Logged[] {
  let current = 0;
  return log.filter(({ type, data }) => {
    if (data.bridgeId !== place.bridgeId) return false;
    if (type === 'bridge_requested') current += 1;
    return current === life;
  });
}

/** Where the log has the fact that a report is; undefined of a report that is none, or none by itself. */
function factsOf(
  { place, life, number, report }: ReportEntry,
  events: readonly Logged[],
): number[] | undefined {
  const type = factTypeOf(report);
  if (type === undefined) return undefined;
  const mark = markOf(place, life, number);
  return events.flatMap((event, index) => {
    if (report.type === 'prompt') return isFirstOf(event, mark) ? [index] : [];
    if (report.type === 'usage_update') {
      const { usage } = event.data as { usage?: { totalTokens?: number } };
      return event.type === type && usage?.totalTokens === number ? [index] : [];
    }
    if (report.type === 'closed' || report.type === 'idle_stopped') return event.type === type ? [index] : [];
    return event.type === type && JSON.stringify(event.data).includes(mark) ? [index] : [];
  });
}

function factTypeOf(report: ReportedEvent): string | undefined {
  switch (report.type) {
    case 'prompt':
      return 'prompt_queued';
    case 'follow_up_queued':
      return 'prompt_queued';
    case 'turn_end':
      return 'turn_ended';
    case 'tool_start':
      return 'tool_started';
    case 'tool_end':
      return 'tool_ended';
    case 'session_id':
      return 'session_bound';
    case 'usage_update':
      return 'usage_updated';
    case 'compaction_event':
      return `compaction_${report.status}`;
    case 'user_request':
      return 'request_opened';
    case 'closed':
    case 'idle_stopped':
      return 'bridge_stopped';
    default:
      return undefined;
  }
}

/** A prompt is queued, or is part of the turn that begins with it; one that was queued is named there again. */
function isFirstOf({ type, data }: Logged, mark: string): boolean {
  const { text, prompt, promptId } = data as { text?: string; prompt?: string; promptId?: string };
  if (type === 'prompt_queued') return text === mark;
  return type === 'turn_started' && prompt === mark && promptId === undefined;
}

/**
 * The deltas of a turn are in the log once and in order, in whatever pieces. Those that were still gathered
 * when the whole answer came need not be: it replaces them.
 */
function assertDeltasLogged(
  bridgeLife: string,
  entries: readonly ReportEntry[],
  events: readonly Logged[],
): void {
  for (const channel of ['text', 'thinking'] as const) {
    const logged = new Map<string, string>();
    for (const { data } of events) {
      const { turnId, whole } = data;
      const piece = whole === true && channel === 'text' ? undefined : data[channel];
      if (turnId !== undefined && piece !== undefined) logged.set(turnId, (logged.get(turnId) ?? '') + piece);
    }
    const replaced = new Set(
      entries.flatMap(({ report }) =>
        report.type === 'turn_end' && report.text !== undefined ? [report.turnId] : [],
      ),
    );
    for (const turnId of new Set(entries.flatMap(({ report }) => turnIdOf(report)))) {
      const said = entries.flatMap(({ report }) => deltaOf(report, channel, turnId));
      const held = logged.get(turnId) ?? '';
      let from = 0;
      for (const delta of said) {
        const at = held.indexOf(delta, from);
        const mayBeGone = channel === 'text' && replaced.has(turnId);
        if (at === -1 && mayBeGone) continue;
        assert.ok(at !== -1, `${bridgeLife}: the log holds ${delta.slice(0, 20)} of ${turnId} in its place`);
        assert.is(held.indexOf(delta, at + 1), -1, `${bridgeLife}: ${delta.slice(0, 20)} is held once`);
        from = at + delta.length;
      }
    }
  }
}

function deltaOf(report: ReportedEvent, channel: 'text' | 'thinking', turnId: string): string[] {
  const isOne = report.type === 'text_delta' || report.type === 'thinking_delta';
  return isOne && report.type === `${channel}_delta` && report.turnId === turnId ? [report.delta] : [];
}

function turnIdOf(report: ReportedEvent): string[] {
  return 'turnId' in report && report.turnId !== undefined ? [report.turnId] : [];
}

/** What is left of a report that was lost with the daemon: the turn that it began, where that is in the log. */
export function remainsOf({ place, report }: ReportEntry, log: readonly Logged[]): Entry[] {
  if (report.type !== 'text_delta' && report.type !== 'thinking_delta') return [];
  const { turnId } = report;
  const isBegun = log.some(
    ({ type, data }) => type === 'turn_started' && data.bridgeId === place.bridgeId && data.turnId === turnId,
  );
  return isBegun ? [{ kind: 'begun', place, turnId }] : [];
}
