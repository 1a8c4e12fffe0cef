import Type from 'typebox';
import Format from 'typebox/format';
import { JsonText } from './json-text.ts';
import { isKey, KEY_BYTES_MAX } from './keys.ts';

Format.Set('turnlog-key', isKey);

/** A key, scope or id: well-formed Unicode of at most 4,096 bytes, never empty. */
export const Key = Type.String({ minLength: 1, maxLength: KEY_BYTES_MAX, format: 'turnlog-key' });

/** Any text, kept exactly: lone surrogates and NUL included. */
export const Text = Type.String();

/** A short text that turnlog itself writes or shows: a reason, a status, a name. */
export const Label = Type.String({ maxLength: 65_536 });

/** A whole number from 0 on: a count, a place, a seq. */
export const Count = Type.Integer({ minimum: 0 });

/** A value that is carried and never looked into; see {@link JsonText}. */
export const Opaque = Type.Unsafe<JsonText>(
  Type.Refine(Type.Unknown(), (value) => value instanceof JsonText),
);

/** An object with exactly these fields. */
export function Exactly<Properties extends Type.TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

/** One of these strings. */
export function OneOf<Values extends string[]>(...values: [...Values]) {
  return Type.Enum(values);
}

/** What a provider reports of its context and tokens; every figure as reported, none derived. */
export const UsageReport = Exactly({
  /** Tokens the context holds now, as an absolute figure. */
  contextTokens: Type.Optional(Type.Number({ minimum: 0 })),
  contextWindow: Type.Optional(Type.Number({ minimum: 0 })),
  inputTokens: Type.Optional(Type.Number({ minimum: 0 })),
  outputTokens: Type.Optional(Type.Number({ minimum: 0 })),
  cachedTokens: Type.Optional(Type.Number({ minimum: 0 })),
  totalTokens: Type.Optional(Type.Number({ minimum: 0 })),
  model: Type.Optional(Label),
  /** Claude's own account of what fills the context; where it is given the report may drop. */
  contextBreakdown: Type.Optional(Opaque),
});
export type UsageReport = Type.Static<typeof UsageReport>;

/** What `agent-sessions.json` keeps of a session's usage. */
export const UsageSnapshot = Exactly({
  contextTokens: Type.Number(),
  contextWindow: Type.Optional(Type.Number()),
  model: Type.Optional(Label),
});
export type UsageSnapshot = Type.Static<typeof UsageSnapshot>;

/** One row of a replay shard. */
export const Message = Exactly({ role: OneOf('user', 'assistant'), content: Text });
export type Message = Type.Static<typeof Message>;
