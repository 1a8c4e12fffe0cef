import { hash } from 'node:crypto';
import { JsonText } from '@turnlog/events';
import { ProjectionError } from '../errors.ts';

// What turnlog reads of a row: its identity, its kind and its turn. Everything else of it is opaque and is
// stored and returned as the text that came.

/** Top-level fields that only say when a row is shown to have been written. */
export const DISPLAY_TIME_FIELDS: ReadonlySet<string> = new Set(['time', 'at', 'timestamp']);

/** How deep a row may be nested: folds and clients walk it recursively. */
export const ROW_DEPTH_MAX = 512;

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
 * @throws ProjectionError `invalid_argument` where one is nested too deep
 */
export function readRows(messages: readonly unknown[]): TranscriptRow[] {
  return messages.map((message) => {
    const json = message instanceof JsonText ? message : jsonOf(message);
    if (depthOf(json.text) > ROW_DEPTH_MAX) throw tooDeep();
    return new TranscriptRow(json);
  });
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

function jsonOf(value: unknown): JsonText {
  try {
    return JsonText.of(value);
  } catch (error) {
    // JSON.stringify is recursive, so it is the first to say that a value is nested too deep.
    if (error instanceof RangeError) throw tooDeep();
    throw error;
  }
}

function tooDeep(): ProjectionError {
  return new ProjectionError('invalid_argument', `a row must not be nested deeper than ${ROW_DEPTH_MAX}`, {
    field: 'messages',
  });
}

/**
 * How deep the brackets of a JSON text are nested; 0 where it is too short to be nested too deep. Not
 * recursive, for it guards what is.
 */
function depthOf(text: string): number {
  if (text.length <= ROW_DEPTH_MAX) return 0;
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let place = 0; place < text.length; place += 1) {
    const character = text[place];
    if (inString) {
      if (character === '\\') place += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}
