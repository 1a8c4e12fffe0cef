/**
 * A value that turnlog carries but never looks into (a transcript row, a tool's arguments), held as its
 * JSON text. As text it survives what msgpack would change: `__proto__` keys, lone surrogates, NUL.
 */
export class JsonText {
  constructor(readonly text: string) {}

  /** @param value anything that JSON can hold; `undefined` and functions become null, as in an array */
  static of(value: unknown): JsonText {
    return new JsonText(JSON.stringify(value) ?? 'null');
  }

  parse(): unknown {
    return JSON.parse(this.text);
  }

  /** In JSON an opaque value is simply itself. */
  toJSON(): unknown {
    return this.parse();
  }
}
