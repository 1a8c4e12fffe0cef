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
  /** How long rendering pauses after the first failure; each further one doubles it. */
  renderRetryMs: number;
  renderRetryMsMax: number;
  /** Files rendered from one snapshot, between two pauses. */
  renderFilesMax: number;
  /** Files of those that are written at the same time. */
  renderFilesAtOnce: number;
  /** Differences that a check names, per projection. */
  differencesMax: number;
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
  differencesMax: 10,
};
