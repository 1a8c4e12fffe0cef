import { safeJson } from './safe-text.ts';

/** A value as indented JSON that is safe to show, with a line break at its end. */
export function formatJson(value: unknown): string {
  return `${safeJson(JSON.stringify(value, null, 2) ?? 'null')}\n`;
}

/** A value as one line of JSON that is safe to show: one of a sequence of such lines. */
export function formatJsonLine(value: unknown): string {
  return `${safeJson(JSON.stringify(value) ?? 'null')}\n`;
}
