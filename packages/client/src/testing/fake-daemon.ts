import type { ReportedEvent } from '@turnlog/events';
import { ClientError, unreachable } from '../errors.ts';
import type { BridgeCalls } from '../recorded-bridge.ts';
import type { FrameAnswer } from '../report-sender.ts';

/** What becomes of one call. */
export type Fate =
  /** Answered. */
  | 'answered'
  /** Never reached the daemon. */
  | 'lost'
  /** Done, but the answer was lost. */
  | 'unanswered'
  /** The daemon is killed before it does it. */
  | 'killed'
  /** The daemon is killed after it did it, and with it what it had only in memory. */
  | 'killed after';

/** One bridge of a daemon that can be killed: what is gathered is in memory only, all else is on disk. */
export class FakeDaemon implements BridgeCalls {
  /** The events on disk, as text; what ends the bridge among them. */
  readonly log: string[] = [];
  readonly frames: number[] = [];
  isStopped = false;
  #gathered: string[] = [];
  readonly #nextFate: () => Fate;

  constructor(nextFate: () => Fate = () => 'answered') {
    this.#nextFate = nextFate;
  }

  get accepted(): number {
    return this.log.length + this.#gathered.length;
  }

  async event(parameters: string): Promise<FrameAnswer> {
    const { first, events } = JSON.parse(parameters) as { first?: number; events: ReportedEvent[] };
    return await this.#meet(() => {
      if (this.isStopped) throw new ClientError('bridge_not_found', 'no such bridge');
      // The window of the deltas has passed.
      if (events.length === 0) this.#write();
      const unseen = first === undefined ? [] : events.slice(this.#seen(first));
      if (events.length > 0) this.frames.push(events.length);
      for (const event of unseen) {
        this.#gathered.push(JSON.stringify(event));
        if (event.type !== 'text_delta') this.#write();
        if (event.type === 'closed') this.isStopped = true;
      }
      return { accepted: this.accepted, durableThrough: this.log.length, emitted: unseen };
    });
  }

  async stop(): Promise<unknown> {
    return await this.#meet(() => {
      if (this.isStopped) throw new ClientError('bridge_not_found', 'no such bridge');
      this.#write();
      this.isStopped = true;
      return { seq: this.log.length };
    });
  }

  /** What is in memory is gone. */
  kill(): void {
    this.#gathered = [];
  }

  #seen(first: number): number {
    if (first > this.accepted + 1) {
      throw new ClientError('event_gap', 'events are missing', { accepted: this.accepted });
    }
    return this.accepted + 1 - first;
  }

  #write(): void {
    this.log.push(...this.#gathered.splice(0));
  }

  async #meet<Result>(task: () => Result): Promise<Result> {
    const fate = this.#nextFate();
    await Promise.resolve();
    if (fate === 'killed') this.kill();
    if (fate === 'killed' || fate === 'lost') throw unreachable('the fake daemon');
    const result = task();
    if (fate === 'answered') return result;
    if (fate === 'killed after') this.kill();
    throw unreachable('the fake daemon');
  }
}
