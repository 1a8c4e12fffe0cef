import { EventError } from './errors.ts';

/** How deep a carried value may be nested: what is recursive, here and elsewhere, gets no further by much. */
export const JSON_DEPTH_MAX = 512;

/**
 * A value that turnlog carries but never looks into (a transcript row, a tool's arguments), held as its
 * JSON text. As text it survives what msgpack would change: `__proto__` keys, lone surrogates, NUL.
 */
export class JsonText {
  constructor(readonly text: string) {}

  /**
   * @param value anything that JSON can hold; `undefined` and functions become null, as in an array
   * @throws EventError `invalid_argument` where it is nested deeper than {@link JSON_DEPTH_MAX}
   */
  static of(value: unknown): JsonText {
    const text = textOf(value);
    if (depthOf(text) > JSON_DEPTH_MAX) throw tooDeep();
    return new JsonText(text);
  }

  parse(): unknown {
    return JSON.parse(this.text);
  }

  /** In JSON an opaque value is simply itself. */
  toJSON(): unknown {
    return this.parse();
  }
}

function textOf(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    // JSON.stringify is recursive, so it is the first to say that a value is nested too deep.
    if (error instanceof RangeError) throw tooDeep();
    throw error;
  }
}

function tooDeep(): EventError {
  return new EventError('invalid_argument', `a value must not be nested deeper than ${JSON_DEPTH_MAX}`);
}

/**
 * How deep the brackets of a JSON text are nested; 0 where it is too short to be nested too deep. Not
 * recursive, for it guards what is.
 */
function depthOf(text: string): number {
  if (text.length <= JSON_DEPTH_MAX) return 0;
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
