import { assert, type ReportedEvent } from '@turnlog/events';
import { decideEndOfTurn, decideInterruption, decideStop } from './decide-end.ts';
import { Draft, type Measured, usageOf } from './draft.ts';
import { factOf, type PlainReport } from './fact-of-report.ts';
import { closing, emptyGathering, type Gathering, gather } from './gathering.ts';
import { PromptDesk } from './prompt-desk.ts';
import type { ReportInput, ReportOutcome } from './report-outcome.ts';
import { bridgeFields } from './state.ts';

/** Turns what a host reports of its bridge into facts. What is recorded is never refused. */
export function decideReports(input: ReportInput): ReportOutcome {
  const decision = new Decision(input);
  input.reports.forEach((report, index) => {
    decision.take(report, index);
  });
  return decision.outcome();
}

class Decision {
  readonly #draft: Draft;
  readonly #prompts: PromptDesk;
  readonly #input: ReportInput;
  #startsTurn = false;

  constructor(input: ReportInput) {
    this.#input = input;
    this.#draft = new Draft(input);
    this.#prompts = new PromptDesk(input.reports);
  }

  outcome(): ReportOutcome {
    for (const prompt of this.#prompts.unclaimed()) this.#queue(prompt);
    const { facts, snapshot, gathering, emitted } = this.#draft;
    return { facts, snapshot, gathering, emitted, startsTurn: this.#startsTurn };
  }

  take(report: ReportedEvent, index: number): void {
    this.#draft.number = this.#input.first + index;
    switch (report.type) {
      case 'prompt':
        if (!this.#prompts.waits(index)) this.#queue(report);
        else if (this.#prompts.isClaimed(index)) this.#draft.coverWithLast();
        break;
      case 'turn_start':
        this.#takeStart(report, index);
        break;
      case 'text_delta':
        this.#gather(report.turnId, 'text', report.delta, index);
        this.#draft.show(report);
        break;
      case 'thinking_delta':
        this.#gather(report.turnId, 'thinking', report.delta, index);
        this.#draft.show(report);
        break;
      case 'turn_end':
        this.#takeEnd(report, index);
        break;
      case 'usage_update':
        this.#takeUsage(report);
        break;
      case 'error':
        this.#takeError(report);
        break;
      case 'closed':
      case 'idle_stopped':
        this.#takeStop(report);
        break;
      case 'follow_up_queued':
        for (const prompt of this.#prompts.unclaimedBefore(index)) this.#queue(prompt);
        this.#takePlain(report);
        break;
      case 'tool_start':
      case 'tool_end':
        this.#ensureTurn(report.turnId, index);
        this.#takePlain(report);
        break;
      default:
        this.#takePlain(report);
    }
  }

  #takePlain(report: PlainReport): void {
    const fact = factOf(report, this.#draft.state, this.#draft.meta);
    if (fact === undefined) {
      this.#draft.show(report);
    } else {
      this.#draft.flush();
      this.#draft.add(fact);
      this.#draft.showLast(report);
    }
  }

  #takeStart(report: ReportedEvent & { type: 'turn_start' }, index: number): void {
    if (this.#isOpen(report.turnId)) {
      this.#repeatStart(report.turnId, index);
      this.#draft.show(report);
    } else {
      this.#startTurn(report.turnId, index);
      this.#draft.showLast(report);
    }
  }

  #startTurn(turnId: string, index: number): void {
    this.#interrupt('replaced');
    if (!this.#startsTurn) this.#draft.addOfOthers(this.#input.endsOfOthers());
    const prompt = this.#promptOf(turnId, index);
    this.#draft.add({
      type: 'turn_started',
      data: {
        ...bridgeFields(this.#draft.state),
        turnId,
        ...(prompt?.promptId !== undefined && { promptId: prompt.promptId }),
        ...(prompt !== undefined && { prompt: prompt.text }),
        purpose: 'prompt',
        injected: 'none',
      },
      meta: this.#draft.meta,
    });
    this.#draft.gathering = emptyGathering(turnId, '');
    this.#startsTurn = true;
  }

  /** A start that was made up for an early report, or is sent twice; a prompt may come with it. */
  #repeatStart(turnId: string, index: number): void {
    if (this.#draft.state.turn?.hasPrompt) return;
    const prompt = this.#prompts.claimNamed(turnId) ?? this.#prompts.claimFirst(index);
    if (prompt !== undefined) this.#queue({ ...prompt, turnId });
  }

  /** The prompt that names the turn, else the oldest that names none: however reports share calls. */
  #promptOf(turnId: string, index: number): { promptId?: string; text: string } | undefined {
    const { waitingPrompts } = this.#draft.state;
    return (
      this.#prompts.claimNamed(turnId) ??
      waitingPrompts.find((prompt) => prompt.turnId === turnId) ??
      waitingPrompts.find((prompt) => prompt.turnId === undefined) ??
      this.#prompts.claimFirst(index)
    );
  }

  /** A report of a turn that nobody started starts it; one of a turn that is over is late and does not. */
  #ensureTurn(turnId: string, index: number): void {
    if (this.#isOpen(turnId) || this.#isLate(turnId)) return;
    // The start holds nothing of the report itself, which may be a delta that waits in memory.
    const { number } = this.#draft;
    this.#draft.number = number - 1;
    this.#startTurn(turnId, index);
    this.#draft.number = number;
  }

  #isOpen(turnId: string): boolean {
    return this.#draft.state.turn?.turnId === turnId;
  }

  #isLate(turnId: string): boolean {
    return !this.#isOpen(turnId) && this.#draft.state.recentTurnIds.includes(turnId);
  }

  #gather(turnId: string, channel: Gathering['channel'], delta: string, index: number): void {
    const draft = this.#draft;
    this.#ensureTurn(turnId, index);
    if (this.#isLate(turnId)) {
      // Of a turn that is over: written as it comes, for the log keeps everything.
      const data = { ...bridgeFields(draft.state), turnId, [channel]: delta };
      draft.flush();
      draft.add({ type: 'turn_output', data, meta: draft.meta });
      return;
    }
    const before = draft.gathering ?? emptyGathering(turnId, undefined);
    assert(before.turnId === turnId, 'what is gathered is of the open turn');
    const { gathering, facts } = gather(before, draft.state, channel, delta, draft.number);
    draft.gathering = gathering;
    draft.add(...facts);
  }

  #takeEnd(report: ReportedEvent & { type: 'turn_end' }, index: number): void {
    const draft = this.#draft;
    this.#ensureTurn(report.turnId, index);
    const late = this.#isLate(report.turnId);
    if (late) draft.flush();
    const usage = report.usage === undefined ? undefined : usageOf(report.usage);
    const measured = usage === undefined ? {} : draft.measure(usage, report.turnId);
    const gathering =
      (late ? undefined : draft.gathering) ?? emptyGathering(report.turnId, late ? '' : undefined);
    draft.add(...decideEndOfTurn(draft.state, gathering, report, usage, draft.metaWith(measured)));
    const { untold } = closing(gathering, report.text);
    if (untold !== '') draft.show({ type: 'text_delta', turnId: report.turnId, delta: untold });
    if (!late) draft.gathering = undefined;
    this.#showMeasured(report, measured);
  }

  #takeUsage(report: ReportedEvent & { type: 'usage_update' }): void {
    const draft = this.#draft;
    draft.flush();
    const usage = usageOf(report.usage);
    const measured = draft.measure(usage, report.turnId);
    const turn = report.turnId === undefined ? {} : { turnId: report.turnId };
    draft.add({
      type: 'usage_updated',
      data: { ...bridgeFields(draft.state), ...turn, usage },
      meta: draft.metaWith(measured),
    });
    this.#showMeasured(report, measured);
  }

  #showMeasured(report: ReportedEvent & { type: 'turn_end' | 'usage_update' }, measured: Measured): void {
    const { figure, detected } = measured;
    if (report.usage === undefined || figure === undefined) {
      this.#draft.showLast(report);
    } else {
      const { contextTokens: _, ...usage } = report.usage;
      this.#draft.showLast({ ...report, usage: { ...usage, ...figure } });
    }
    if (detected !== undefined) this.#draft.addDetected(detected, report.turnId);
  }

  #takeError(report: ReportedEvent & { type: 'error' }): void {
    const { turn } = this.#draft.state;
    const endsTurn = report.turnId !== undefined || report.code === 'turn_interrupted';
    const isOpen = turn !== undefined && (report.turnId ?? turn.turnId) === turn.turnId;
    if (endsTurn && isOpen) {
      this.#interrupt('provider_error', report.message);
      this.#draft.showLast(report);
    } else {
      this.#draft.show(report);
    }
  }

  #interrupt(reason: 'replaced' | 'provider_error', message?: string): void {
    const draft = this.#draft;
    draft.add(...decideInterruption(draft.state, draft.gathering, reason, message, draft.meta));
    draft.gathering = undefined;
  }

  #takeStop(report: ReportedEvent & { type: 'closed' | 'idle_stopped' }): void {
    const draft = this.#draft;
    const isIdle = report.type === 'idle_stopped';
    const stop = isIdle
      ? ({ reason: 'idle' } as const)
      : ({ reason: 'exited', exitCode: report.code } as const);
    for (const prompt of this.#prompts.unclaimed()) this.#queue(prompt);
    draft.add(...decideStop(draft.state, draft.gathering, stop, draft.meta));
    draft.gathering = undefined;
    draft.showLast(report);
  }

  #queue(prompt: { promptId?: string; turnId?: string; text: string }): void {
    this.#draft.queue({ ...prompt, promptId: prompt.promptId ?? this.#input.newPromptId() });
  }
}
