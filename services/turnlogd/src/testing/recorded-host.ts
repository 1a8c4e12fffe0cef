import type { OperationParameters, ReportedEvent } from '@turnlog/events';
import fc from 'fast-check';
import type { Place } from './recorded-model.ts';

/** Which turn a step is about: the one that its host takes for open, an earlier one, or one never begun. */
const turnChoices = fc.oneof(
  { weight: 6, arbitrary: fc.constant('open' as const) },
  { weight: 2, arbitrary: fc.nat({ max: 9 }) },
  { weight: 1, arbitrary: fc.constant('fresh' as const) },
);

const optionalBoolean = fc.constantFrom(true, false, undefined);

/** What a host has to tell, before it is known of which turns. */
export const steps = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      say: fc.constant('begin' as const),
      prompt: fc.constantFrom('none' as const, 'unnamed' as const, 'before' as const, 'after' as const),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      say: fc.constant('delta' as const),
      of: turnChoices,
      channel: fc.constantFrom('text' as const, 'text' as const, 'thinking' as const),
      isLong: fc.constantFrom(false, false, false, false, true),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      say: fc.constant('end' as const),
      of: turnChoices,
      text: fc.constantFrom('none' as const, 'grown' as const, 'other' as const, 'empty' as const),
      withUsage: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ say: fc.constant('tool' as const), of: turnChoices, isEnd: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      say: fc.constant('error' as const),
      of: fc.oneof(turnChoices, fc.constant('none' as const)),
      isInterruption: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ say: fc.constant('queue' as const) }) },
  { weight: 1, arbitrary: fc.record({ say: fc.constant('late prompt' as const), of: turnChoices }) },
  {
    weight: 1,
    arbitrary: fc.record({
      say: fc.constant('follow up' as const),
      removed: fc.constantFrom('removed' as const, 'cleared' as const, undefined),
    }),
  },
  { weight: 2, arbitrary: fc.record({ say: fc.constant('usage' as const), of: fc.option(turnChoices) }) },
  { weight: 2, arbitrary: fc.record({ say: fc.constant('session' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      say: fc.constant('compaction' as const),
      status: fc.constantFrom(
        'completed' as const,
        'completed' as const,
        'started' as const,
        'failed' as const,
      ),
      of: fc.option(turnChoices),
      summary: fc.constantFrom('some' as const, 'some' as const, 'none' as const, 'empty' as const),
      kept: fc.option(fc.nat({ max: 9 })),
      strategy: fc.constantFrom('native' as const, 'summary-reset' as const, undefined),
      resetContext: optionalBoolean,
    }),
  },
  { weight: 1, arbitrary: fc.record({ say: fc.constant('shown' as const), of: turnChoices }) },
  { weight: 1, arbitrary: fc.record({ say: fc.constant('question' as const) }) },
);

export type Step = typeof steps extends fc.Arbitrary<infer Value> ? Value : never;

/** Longer than what is gathered before it is written at once. */
const LONG_DELTA = 'x'.repeat(9_000);

/**
 * The host of one bridge. It numbers what it reports and knows what became of it only from the answers;
 * every report holds a mark of its own, by which it is found in the log.
 */
export class RecordedHost {
  /** What it has to report since the bridge was last recorded; the first has the number 1. */
  reports: ReportedEvent[] = [];
  /** How often the bridge was recorded. */
  life = 0;
  /** What it was told last. */
  accepted = 0;
  durableThrough = 0;
  isOpen = false;
  #turns: { turnId: string; text: string; hasPrompt: boolean }[] = [];
  #open: { turnId: string; text: string; hasPrompt: boolean } | undefined;
  #waiting = 0;
  #followUps: string[] = [];
  #tokens: () => number;

  constructor(
    readonly place: Place,
    tokens: () => number,
  ) {
    this.#tokens = tokens;
  }

  /** Reports that the daemon has not said to be on disk. */
  get hasUnanswered(): boolean {
    return this.reports.length > this.accepted;
  }

  begin(): void {
    this.reports = [];
    this.life += 1;
    this.accepted = 0;
    this.durableThrough = 0;
    this.isOpen = true;
    this.#open = undefined;
    this.#waiting = 0;
    this.#followUps = [];
  }

  /** The call of `bridge.event` with every report from a number on. */
  callFrom(first: number): OperationParameters<'bridge.event'> {
    return { bridgeId: this.place.bridgeId, first, events: this.reports.slice(first - 1) };
  }

  /** The mark of the report that comes next. */
  #mark(): string {
    return markOf(this.place, this.life, this.reports.length + 1);
  }

  close(isIdle: boolean): void {
    this.reports.push(isIdle ? { type: 'idle_stopped' } : { type: 'closed', code: this.life });
  }

  say(step: Step): void {
    switch (step.say) {
      case 'begin':
        this.#begin(step.prompt);
        return;
      case 'delta': {
        const turn = this.#turnOf(step.of);
        const delta = this.#mark() + (step.isLong ? LONG_DELTA : '');
        if (step.channel === 'text') turn.text += delta;
        this.reports.push({ type: `${step.channel}_delta`, turnId: turn.turnId, delta });
        return;
      }
      case 'end': {
        const turn = this.#turnOf(step.of);
        const mark = this.#mark();
        const texts = { none: undefined, grown: `${turn.text}${mark}`, other: `other ${mark}`, empty: '' };
        const text = texts[step.text];
        this.reports.push({
          type: 'turn_end',
          turnId: turn.turnId,
          stopReason: mark,
          ...(text !== undefined && { text }),
          ...(step.withUsage && { usage: { contextTokens: this.#tokens() } }),
        });
        if (this.#open === turn) this.#open = undefined;
        return;
      }
      case 'tool': {
        const { turnId } = this.#turnOf(step.of);
        const toolCallId = this.#mark();
        this.reports.push(
          step.isEnd
            ? { type: 'tool_end', turnId, toolCallId, result: { of: turnId } }
            : { type: 'tool_start', turnId, toolCallId, toolName: 'read', args: {} },
        );
        return;
      }
      case 'error': {
        const turn = step.of === 'none' ? undefined : this.#turnOf(step.of, false);
        this.reports.push({
          type: 'error',
          code: step.isInterruption ? 'turn_interrupted' : 'provider',
          message: this.#mark(),
          ...(turn !== undefined && { turnId: turn.turnId }),
        });
        return;
      }
      case 'queue':
        this.#waiting += 1;
        this.reports.push({ type: 'prompt', text: this.#mark() });
        return;
      case 'late prompt': {
        const turn = this.#turnOf(step.of, false);
        if (turn.hasPrompt) return;
        turn.hasPrompt = true;
        this.reports.push({ type: 'prompt', text: this.#mark(), turnId: turn.turnId });
        return;
      }
      case 'follow up':
        this.#followUp(step.removed);
        return;
      case 'usage': {
        const turn = step.of === null ? {} : { turnId: this.#turnOf(step.of, false).turnId };
        this.reports.push({
          type: 'usage_update',
          ...turn,
          usage: { contextTokens: this.#tokens(), totalTokens: this.reports.length + 1 },
        });
        return;
      }
      case 'session':
        this.reports.push({ type: 'session_id', sessionId: this.#mark() });
        return;
      case 'compaction': {
        const { status, strategy, resetContext } = step;
        const mark = this.#mark();
        const summary = { some: `summary ${mark}`, none: undefined, empty: '' }[step.summary];
        const kept = step.kept === null ? undefined : this.#turns[step.kept]?.turnId;
        const turn = step.of === null ? {} : { turnId: this.#turnOf(step.of, false).turnId };
        this.reports.push({
          type: 'compaction_event',
          status,
          message: mark,
          ...turn,
          ...(strategy !== undefined && { strategy }),
          ...(resetContext !== undefined && { resetContext }),
          ...(summary !== undefined && status === 'completed' && { summary }),
          ...(kept !== undefined && { keptFromTurnId: kept }),
        });
        return;
      }
      case 'shown': {
        const { turnId } = this.#turnOf(step.of, false);
        this.reports.push({ type: 'tool_update', turnId, toolCallId: 'c', partial: 1 });
        return;
      }
      case 'question':
        this.reports.push({ type: 'user_request', requestId: this.#mark(), kind: 'text', title: 'Which?' });
    }
  }

  #begin(prompt: 'none' | 'unnamed' | 'before' | 'after'): void {
    // With prompts that wait, one more without a name could be of either turn.
    const kind = this.#waiting > 0 ? 'none' : prompt;
    const turn = this.#newTurn();
    const { turnId } = turn;
    if (kind === 'unnamed') this.reports.push({ type: 'prompt', text: this.#mark() });
    if (kind === 'before') this.reports.push({ type: 'prompt', text: this.#mark(), turnId });
    this.reports.push({ type: 'turn_start', turnId });
    if (kind === 'after') this.reports.push({ type: 'prompt', text: this.#mark(), turnId });
    turn.hasPrompt = kind !== 'none' || turn.hasPrompt;
    this.#open = turn;
  }

  #followUp(removed: 'removed' | 'cleared' | undefined): void {
    const promptId = removed === undefined ? undefined : this.#followUps.pop();
    if (removed !== undefined && promptId !== undefined) {
      this.#waiting -= 1;
      this.reports.push({ type: 'follow_up_removed', promptId, reason: removed });
    } else {
      const mark = this.#mark();
      this.#waiting += 1;
      this.#followUps.push(mark);
      this.reports.push({ type: 'follow_up_queued', promptId: mark, text: mark });
    }
  }

  /** @param begins whether a report of a new turn begins it */
  #turnOf(
    choice: 'open' | 'fresh' | number,
    begins = true,
  ): { turnId: string; text: string; hasPrompt: boolean } {
    const known =
      typeof choice === 'number' ? this.#turns[choice] : choice === 'open' ? this.#open : undefined;
    if (known !== undefined) return known;
    if (!begins) return { turnId: `never of ${this.place.bridgeId}`, text: '', hasPrompt: true };
    const turn = this.#newTurn();
    this.#open = turn;
    return turn;
  }

  #newTurn(): { turnId: string; text: string; hasPrompt: boolean } {
    const takesWaiting = this.#waiting > 0;
    if (takesWaiting) {
      this.#waiting -= 1;
      this.#followUps.shift();
    }
    // The same on every bridge: a turnId is unique within its bridge only.
    const turn = { turnId: `turn-${this.#turns.length}`, text: '', hasPrompt: takesWaiting };
    this.#turns.push(turn);
    return turn;
  }
}

/** What a report holds that no other does. */
export function markOf({ bridgeId }: Place, life: number, number: number): string {
  return `[${bridgeId}/${life}/${number}]`;
}
