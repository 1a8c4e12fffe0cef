const KIB = 1024;
const MIB = 1024 * KIB;

/** No record of the log is larger. */
export const RECORD_BYTES_MAX = 512 * KIB;

/** What a record's fields beside its data may take: stream, id and meta at their longest. */
export const HEAD_BYTES_MAX = 32 * KIB;

/** Data larger than this goes before its event in `payload_part` records of at most this size. */
export const PART_BYTES_MAX = RECORD_BYTES_MAX - HEAD_BYTES_MAX;

/** The encoded data of one append, all its events together. */
export const APPEND_BYTES_MAX = 64 * MIB;

export const APPEND_EVENTS_MAX = 10_000;

export const PARTS_MAX = Math.ceil(APPEND_BYTES_MAX / PART_BYTES_MAX);

export const META_BYTES_MAX = 16 * KIB;

export const TYPE_LENGTH_MAX = 256;

/** A stream is a key with a prefix that names what it belongs to. */
export const STREAM_BYTES_MAX = 4096 + 64;

/** Problems that one verification lists; more are only counted. */
export const PROBLEMS_MAX = 1000;

/** What LevelDB gathers in memory before it becomes a table. */
const WRITE_BUFFER_BYTES = 4 * MIB;

/** What is scanned when a log is opened: LevelDB may hold two write buffers that reached no table yet. */
export const TAIL_BYTES = 2 * WRITE_BUFFER_BYTES;

/** The room that must be free before a store is closed to be opened again, for opening writes tables. */
export const ROOM_BYTES = 3 * WRITE_BUFFER_BYTES;

/** One page of a scan. */
export const PAGE_BYTES = MIB;
export const PAGE_RECORDS_MAX = 1000;

export interface LogLimits {
  /** What one synced batch takes; a single append may be larger. */
  groupBytesMax: number;
  groupEventsMax: number;
  /** What may wait for a batch, encoded; what comes above it is refused, unless nothing else waits. */
  queueBytesMax: number;
  queueAppendsMax: number;
  /** Committed events kept in memory for those who follow the head closely. */
  recentBytesMax: number;
  recentEventsMax: number;
  /** Streams whose revision is kept in memory. */
  cachedStreamsMax: number;
  /** Events that may be committed and not yet written to the index. */
  indexBacklogEventsMax: number;
  /** How long a store that failed waits before it is looked at again; each failure to open it doubles that. */
  reopenDelayMs: number;
  reopenDelayMsMax: number;
}

export const DEFAULT_LIMITS: LogLimits = {
  groupBytesMax: 4 * MIB,
  groupEventsMax: 4096,
  queueBytesMax: 256 * MIB,
  queueAppendsMax: 65_536,
  recentBytesMax: 4 * MIB,
  recentEventsMax: 1024,
  cachedStreamsMax: 10_000,
  indexBacklogEventsMax: 16_384,
  reopenDelayMs: 250,
  reopenDelayMsMax: 5_000,
};
