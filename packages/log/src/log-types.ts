import type { Envelope, TurnlogError } from '@turnlog/events';

/** A stretch of the log in the order of seqs, both ends included. */
export interface ReadOptions {
  /** The lowest seq; 1 unless said. */
  from?: number;
  /** The highest seq; the head unless said. */
  to?: number;
  limit?: number;
  /** From the highest seq down. */
  reverse?: boolean;
}

export interface ReadStreamOptions {
  /** The first revision; 1 unless said. */
  from?: number;
  limit?: number;
}

export interface FollowOptions {
  /** The first seq to give; it may be yet to come. */
  from: number;
  /** Ends the following. */
  signal?: AbortSignal;
}

/**
 * `read_only`: a write has failed, and nothing is written until the store was opened again; `unavailable`:
 * it could not be opened again so far, and nothing is read either. Both pass by themselves once their
 * reason has gone, unless it is `store_damaged`.
 */
export type LogState = { state: 'ready' } | { state: 'read_only' | 'unavailable'; reason: TurnlogError };

/** What came to light when the log was opened. */
export interface OpeningReport {
  /** The store was made. */
  created: boolean;
  /** The index was made anew from the log. */
  indexRebuilt: boolean;
  /** Lines of LevelDB's own report about what it left out: of a torn tail, or of what was never acknowledged. */
  dropped: string[];
}

/** Called with each group of events as soon as it is on disk, in the order of the log. */
export type CommitListener = (events: readonly Envelope[]) => void;
