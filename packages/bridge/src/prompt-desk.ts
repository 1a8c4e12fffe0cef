import type { ReportedEvent } from '@turnlog/events';

type Prompt = ReportedEvent & { type: 'prompt' };

/**
 * The prompts among the reports of one call. A prompt whose turn begins in the same call becomes part of
 * that turn's first event; every other prompt is queued.
 */
export class PromptDesk {
  readonly #reports: readonly ReportedEvent[];
  readonly #waiting = new Map<number, Prompt>();

  constructor(reports: readonly ReportedEvent[]) {
    this.#reports = reports;
    reports.forEach((report, index) => {
      if (report.type === 'prompt' && this.#turnOf(report, index) !== -1) this.#waiting.set(index, report);
    });
  }

  /** Whether the prompt at this place waits for a turn of this call, or was given to one. */
  waits(index: number): boolean {
    const report = this.#reports[index];
    return report?.type === 'prompt' && this.#turnOf(report, index) !== -1;
  }

  /** Whether the prompt at this place was given to a turn that began before it. */
  isClaimed(index: number): boolean {
    return this.waits(index) && !this.#waiting.has(index);
  }

  /** The prompt that names a turn. */
  claimNamed(turnId: string): Prompt | undefined {
    return this.#claim(([, prompt]) => prompt.turnId === turnId);
  }

  /** The first prompt before this place that names no turn. */
  claimFirst(index: number): Prompt | undefined {
    return this.#claim(([place, prompt]) => prompt.turnId === undefined && place < index);
  }

  /** Takes what no turn claimed, of the prompts before this place; those that name a turn still wait for it. */
  unclaimedBefore(index: number): Prompt[] {
    const prompts: Prompt[] = [];
    for (let found = this.claimFirst(index); found !== undefined; found = this.claimFirst(index)) {
      prompts.push(found);
    }
    return prompts;
  }

  /** Takes what no turn claimed. */
  unclaimed(): Prompt[] {
    const prompts = [...this.#waiting.values()];
    this.#waiting.clear();
    return prompts;
  }

  #claim(isWanted: (waiting: [place: number, prompt: Prompt]) => boolean): Prompt | undefined {
    const claimed = [...this.#waiting].find(isWanted);
    if (claimed === undefined) return undefined;
    this.#waiting.delete(claimed[0]);
    return claimed[1];
  }

  /** The place of the turn start that can claim the prompt, -1 where there is none. */
  #turnOf(prompt: Prompt, index: number): number {
    return this.#reports.findIndex(
      (report, place) =>
        report.type === 'turn_start' &&
        (prompt.turnId === undefined ? place > index : report.turnId === prompt.turnId),
    );
  }
}
