import { hash } from 'node:crypto';
import { JsonText } from '@turnlog/events';

// What turnlog reads of a row: its identity, its kind and its turn. Everything else of it is opaque and is
// stored and returned as the text that came.

/** Top-level fields that only say when a row is shown to have been written. */
export const DISPLAY_TIME_FIELDS: ReadonlySet<string> = new Set(['time', 'at', 'timestamp']);

export type Fields = Readonly<Record<string, unknown>>;

/** A row and what identifies it, each computed when it is first asked for. */
export class TranscriptRow {
  #content: string | undefined;
  #identity: string | undefined;
  #value: { parsed: unknown } | undefined;

  constructor(readonly json: JsonText) {}

  /** A hash of the whole text, display time included. */
  get content(): string {
    this.#content ??= hashOf(this.json.text);
    return this.#content;
  }

  get value(): unknown {
    this.#value ??= { parsed: this.json.parse() };
    return this.#value.parsed;
  }

  /** The row's own fields; none where it is no object. */
  get fields(): Fields {
    return isObject(this.value) ? this.value : {};
  }

  /**
   * `i` and a hash of its durable identity: `id`, else kind and `toolCallId`, else kind, `turnId` and
   * `segmentId`. Without one, `c` and a hash of its content without display time.
   */
  get identity(): string {
    if (this.#identity === undefined) {
      const durable = durableIdentity(this.fields);
      this.#identity =
        durable === undefined
          ? `c${hashOf(withoutDisplayTime(this))}`
          : `i${hashOf(JSON.stringify(durable))}`;
    }
    return this.#identity;
  }

  get isDurable(): boolean {
    return isDurableIdentity(this.identity);
  }
}

/** Whether an identity stays the same when the row's content changes. */
export function isDurableIdentity(identity: string): boolean {
  return identity.startsWith('i');
}

/**
 * Takes a client's array as rows.
 * @param messages each an opaque JSON text, or any value that JSON can hold
 * @throws EventError `invalid_argument` where one is nested too deep
 */
export function readRows(messages: readonly unknown[]): TranscriptRow[] {
  return messages.map((message) => new TranscriptRow(JsonText.of(message)));
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value can be part of an identity: an empty text or a null says nothing. */
function isName(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

function durableIdentity({ id, kind, toolCallId, turnId, segmentId }: Fields): unknown[] | undefined {
  if (isName(id)) return ['id', id];
  if (!isName(kind)) return undefined;
  if (isName(toolCallId)) return ['call', kind, toolCallId];
  if (isName(turnId) && isName(segmentId)) return ['segment', kind, turnId, segmentId];
  return undefined;
}

function withoutDisplayTime(row: TranscriptRow): string {
  const entries = Object.entries(row.fields);
  const kept = entries.filter(([name]) => !DISPLAY_TIME_FIELDS.has(name));
  return kept.length === entries.length ? row.json.text : JSON.stringify(Object.fromEntries(kept));
}

/** 128 bits of SHA-256: enough that no two contents of a transcript ever meet, and short in a table. */
function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
