import { EventError } from './errors.ts';

/** The longest key, scope or id, in bytes of UTF-8. */
export const KEY_BYTES_MAX = 4096;

/**
 * Checks a conversation key, session key, scope or id.
 * Any string will do, path separators and control characters included, as long as it is not empty, is
 * well-formed Unicode and is not too long: only such a string is the same after UTF-8 and back.
 * @throws EventError `invalid_argument`, naming the field
 */
export function assertKey(field: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') {
    throw new EventError('invalid_argument', `${field} must be a string`, { field });
  }
  if (value === '') {
    throw new EventError('invalid_argument', `${field} must not be empty`, { field });
  }
  if (!value.isWellFormed()) {
    throw new EventError(
      'invalid_argument',
      `${field} must be well-formed Unicode (it has a lone surrogate)`,
      {
        field,
      },
    );
  }
  if (value.length > KEY_BYTES_MAX || Buffer.byteLength(value) > KEY_BYTES_MAX) {
    throw new EventError('invalid_argument', `${field} must be at most ${KEY_BYTES_MAX} bytes long`, {
      field,
    });
  }
}

/** Whether a string may name something: well-formed Unicode, not empty, not too long. */
export function isKey(value: string): boolean {
  return value !== '' && value.isWellFormed() && Buffer.byteLength(value) <= KEY_BYTES_MAX;
}

const CONVERSATION_PREFIX = /^(thread|web):/;

/** `<session>:<provider>`, the session being the conversation key without its `thread:` or `web:` prefix. */
export function sessionKeyOf(conversationKey: string, provider: string): string {
  return `${conversationKey.replace(CONVERSATION_PREFIX, '')}:${provider}`;
}

/** The streams: each is the unit of optimistic concurrency for what it holds. */
export const streamOf = {
  conversation: (conversationKey: string) => `conversation:${conversationKey}`,
  transcript: (scopeId: string) => `transcript:${scopeId}`,
  session: (sessionKey: string) => `session:${sessionKey}`,
  bridge: (bridgeId: string) => `bridge:${bridgeId}`,
  migration: (source: string) => `migration:${source}`,
  /** Of commands that changed nothing else. */
  commands: () => 'commands',
} as const;

/** The stream of what happens on a bridge: its conversation's, or its own where it has none. */
export function streamOfBridge(bridge: { bridgeId: string; conversationKey?: string | undefined }): string {
  return bridge.conversationKey === undefined
    ? streamOf.bridge(bridge.bridgeId)
    : streamOf.conversation(bridge.conversationKey);
}

const PROVIDER = /^(codex|claude|opencode|pi|hermes|crewcoder|grok|ollama|openrouter|plugin:.+|acp:.+)$/su;

export function isProvider(value: string): boolean {
  return PROVIDER.test(value) && isKey(value);
}

/** @throws EventError `provider_not_found` */
export function assertProvider(value: string): void {
  assertKey('provider', value);
  if (!PROVIDER.test(value)) {
    throw new EventError(
      'provider_not_found',
      'provider must be codex, claude, opencode, pi, hermes, crewcoder, grok, ollama, openrouter, ' +
        'plugin:<id> or acp:<id>',
      { field: 'provider' },
    );
  }
}

const CONVERSATION_STREAM = 'conversation:';

/** The conversation key of a stream, or undefined where the stream is no conversation's. */
export function conversationKeyOf(stream: string): string | undefined {
  return stream.startsWith(CONVERSATION_STREAM) ? stream.slice(CONVERSATION_STREAM.length) : undefined;
}
