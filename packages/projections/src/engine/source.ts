import type { Envelope } from '@turnlog/events';

/** The log, as far as projections need it; the class `Log` is one. */
export interface EventSource {
  /** The seq of the last committed event, 0 where there is none. */
  head(): number;
  /** The events from one seq to another, none left out, in pages of a bounded size. */
  readPages(range: { from: number; to: number }): AsyncIterable<readonly Envelope[]>;
  /** Calls the listener after every commit, once the head has moved; the answer ends that. */
  onCommit(listener: () => void): () => void;
}

/** What the engine would otherwise reach for. */
export interface EngineClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs the task once after the delay; the answer cancels it. */
  after(delayMs: number, task: () => void): () => void;
}
