/** What bounds the engine. Every one may be given to `openProjections`. */
export interface EngineLimits {
  /** Events folded before they are committed together; never more than a page of the log. */
  batchEventsMax: number;
  /** Rows kept decoded, per projection, measured as encoded. */
  cacheBytesMax: number;
  /** How long a file stays as it is at least, so that a burst of changes is one rendering. */
  renderDelayMs: number;
  /** Rendering pauses this many times as long as it took: 9 makes it a tenth of the time. */
  renderPauseFactor: number;
  /** How long a file that could not be rendered waits; each further failure of it doubles that. */
  renderRetryMs: number;
  renderRetryMsMax: number;
  /** Files rendered from one snapshot, between two pauses. */
  renderFilesMax: number;
  /** Files of those that are written at the same time. */
  renderFilesAtOnce: number;
  /** Files whose rendering has failed that are waited for one by one. */
  heldFilesMax: number;
  /** Differences that a check names, per projection. */
  differencesMax: number;
  /** Events that are folded in memory for a read while nothing can be written. */
  unwrittenEventsMax: number;
  /** How long a database that failed waits before it is looked at again; each failed opening doubles that. */
  reopenDelayMs: number;
  reopenDelayMsMax: number;
}

export const DEFAULT_LIMITS: EngineLimits = {
  batchEventsMax: 1024,
  cacheBytesMax: 8 * 1024 * 1024,
  renderDelayMs: 25,
  renderPauseFactor: 9,
  renderRetryMs: 100,
  renderRetryMsMax: 5_000,
  renderFilesMax: 16,
  renderFilesAtOnce: 4,
  heldFilesMax: 10_000,
  differencesMax: 10,
  unwrittenEventsMax: 4_096,
  reopenDelayMs: 250,
  reopenDelayMsMax: 5_000,
};
