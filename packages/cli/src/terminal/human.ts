/** Numbers and times as people read them. All in English and in UTC, so that output can be compared. */

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `0 B`, `1.5 KiB`, `12.0 MiB` */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let place = 0;
  // 1023.95 would be rounded to 1024.0 of the smaller unit.
  while (value >= 1023.95 && place < BYTE_UNITS.length - 1) {
    value /= 1024;
    place += 1;
  }
  return `${place === 0 ? value : value.toFixed(1)} ${BYTE_UNITS[place]}`;
}

const counts = new Intl.NumberFormat('en-US');

/**
 * `12,345`, or with a noun `1 event`, `12,345 events`
 * @param plural where it is not the noun with an s
 */
export function formatCount(count: number, noun?: string, plural = `${noun}s`): string {
  const number = counts.format(count);
  return noun === undefined ? number : `${number} ${count === 1 ? noun : plural}`;
}

/** `2026-01-31 09:05:00Z` */
export function formatTime(atMs: number): string {
  return new Date(atMs)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}

const AGE_UNITS = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'min', ms: 60_000 },
  { unit: 's', ms: 1000 },
];
/** An age of more days says less than the day itself. */
const AGE_DAYS_MAX = 30;

/** `just now`, `5 min ago`, `3 d ago`, and the day itself where it is more than a month ago */
export function formatAge(atMs: number, nowMs: number): string {
  const ageMs = nowMs - atMs;
  if (ageMs > AGE_DAYS_MAX * 86_400_000) return formatTime(atMs).slice(0, 10);
  const found = AGE_UNITS.find(({ ms }) => ageMs >= ms);
  return found === undefined ? 'just now' : `${Math.floor(ageMs / found.ms)} ${found.unit} ago`;
}

/** `250 ms`, `1.5 s`, `2 min 5 s` */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
