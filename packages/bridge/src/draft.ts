import {
  assert,
  compactMeter,
  type EventMeta,
  JsonText,
  type LiveEvent,
  type MeterState,
  type ReportedEvent,
  reportUsage,
  startTurn,
  type UsageReport,
} from '@turnlog/events';
import type { Fact } from './facts.ts';
import { type Gathering, written } from './gathering.ts';
import { advance, type BridgeSnapshot, restoreBridge } from './machine.ts';
import { type BridgeState, bridgeFields } from './state.ts';

/** A report that hosts are told; a prompt is not. */
export type ToldReport = Exclude<ReportedEvent, { type: 'prompt' }>;

/** What hosts are told; `fact` is the place among the facts of what holds it, if any does. */
export interface EmittedEvent {
  event: LiveEvent;
  fact?: number;
}

export interface Measured {
  /** Undefined where the bridge has no session, and so no meter. */
  figure?: { contextTokens?: number; contextWindow?: number };
  detected?: { beforeTokens: number; afterTokens: number };
}

/** What one call has decided so far. Every fact is tried on the machine as it is added. */
export class Draft {
  readonly facts: Fact[] = [];
  readonly emitted: EmittedEvent[] = [];
  snapshot: BridgeSnapshot;
  gathering: Gathering | undefined;
  /** The number of the report that is being taken. */
  number = 0;
  #meter: MeterState | undefined;

  constructor(start: {
    snapshot: BridgeSnapshot;
    gathering: Gathering | undefined;
    meter: MeterState | undefined;
  }) {
    this.snapshot = start.snapshot;
    this.gathering = start.gathering;
    this.#meter = start.meter;
  }

  get state(): BridgeState {
    return this.snapshot.context;
  }

  get meta(): EventMeta {
    return { bridgeId: this.state.bridgeId, through: this.number };
  }

  metaWith({ figure }: Measured): EventMeta {
    return figure === undefined ? this.meta : { ...this.meta, figure };
  }

  add(...facts: Fact[]): void {
    for (const fact of facts) {
      this.snapshot = advance(this.snapshot, fact);
      this.facts.push(fact);
      if (this.#meter === undefined) continue;
      if (fact.type === 'turn_started') this.#meter = startTurn(this.#meter, fact.data.turnId);
      const isBoundary = fact.type === 'compaction_completed' || fact.type === 'compaction_detected';
      if (isBoundary) this.#meter = compactMeter(this.#meter, fact);
    }
  }

  /** Facts about other bridges, in their place among those of this one. */
  addOfOthers(facts: readonly Fact[]): void {
    this.facts.push(...facts);
  }

  /** Tells hosts of a report that is in no fact. */
  show(report: ToldReport): void {
    this.emitted.push({ event: this.#live(report) });
  }

  /** Tells hosts of a report that the last fact holds. */
  showLast(report: ToldReport): void {
    assert(this.facts.length > 0, 'there is a fact that holds the report');
    this.emitted.push({ event: this.#live(report), fact: this.facts.length - 1 });
  }

  /** The last fact holds the report that is being taken as well: it need not be sent again. */
  coverWithLast(): void {
    this.flush();
    const fact = this.facts.pop();
    assert(fact !== undefined, 'there is a fact that holds the report');
    this.facts.push({ ...fact, meta: { ...fact.meta, ...this.meta } });
    this.snapshot = restoreBridge({ ...this.state, through: this.number });
  }

  /** Writes what is gathered, so that the facts keep the order of the reports. */
  flush(): void {
    if (this.gathering === undefined) return;
    const { gathering, facts } = written(this.gathering, this.state);
    this.gathering = gathering;
    this.add(...facts);
  }

  /** A prompt that waits for its turn, or that is told of after its turn began. */
  queue({ promptId, text, turnId }: { promptId: string; text: string; turnId?: string | undefined }): void {
    this.flush();
    this.add({
      type: 'prompt_queued',
      data: {
        bridgeId: this.state.bridgeId,
        promptId,
        text,
        place: this.state.waitingPrompts.length,
        ...(turnId !== undefined && { turnId }),
      },
      meta: this.meta,
    });
  }

  /**
   * Puts a report of usage through the meter.
   * @returns what hosts are told in its place, and the compaction that only the figures show
   */
  measure(usage: UsageReport, turnId: string | undefined): Measured {
    if (this.#meter === undefined) return {};
    const { meter, detected } = reportUsage(this.#meter, {
      provider: this.state.provider,
      ...(turnId !== undefined && { turnId }),
      usage,
    });
    this.#meter = meter;
    const { contextTokens, contextWindow } = meter;
    const figure = {
      ...(contextTokens !== undefined && { contextTokens }),
      ...(contextWindow !== undefined && { contextWindow }),
    };
    return detected === undefined ? { figure } : { figure, detected };
  }

  /** The card of a compaction that nobody reported. */
  addDetected(detected: { beforeTokens: number; afterTokens: number }, turnId: string | undefined): void {
    const card = { automatic: true, ...detected, ...(turnId !== undefined && { turnId }) };
    this.add({
      type: 'compaction_detected',
      data: { ...bridgeFields(this.state), ...card, source: 'inferred' },
      meta: this.meta,
    });
    this.showLast({ type: 'compaction_event', status: 'detected', ...card });
  }

  #live(report: ToldReport): LiveEvent {
    return { ...report, bridgeId: this.state.bridgeId } as LiveEvent;
  }
}

/** The usage of a report as an event holds it. */
export function usageOf(reported: unknown): UsageReport {
  const { contextBreakdown, ...figures } = reported as UsageReport;
  return contextBreakdown === undefined
    ? figures
    : { ...figures, contextBreakdown: JsonText.of(contextBreakdown) };
}
