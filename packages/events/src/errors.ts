/** Every error code that can leave turnlog, with the HTTP status that fits it and what the caller can do. */
export const ERROR_CODES = {
  invalid_argument: { httpStatus: 400, advice: 'Correct the parameter that the message names.' },
  unauthorized: {
    httpStatus: 401,
    advice: 'Send the bearer token from the file "token" in the data directory.',
  },
  forbidden_origin: { httpStatus: 403, advice: 'Call from the address that the daemon itself printed.' },
  forbidden: { httpStatus: 403, advice: 'This token does not open that; use the one of the data directory.' },
  not_owner: { httpStatus: 403, advice: 'Use the ownerToken that starting the bridge answered.' },
  operation_not_found: { httpStatus: 404, advice: 'See the list of operations in README.md.' },
  conversation_not_found: { httpStatus: 404, advice: 'List what exists with conversation.list.' },
  bridge_not_found: { httpStatus: 404, advice: 'Open it first with bridge.record.' },
  token_not_found: { httpStatus: 404, advice: 'List what exists with token.list.' },
  provider_not_found: { httpStatus: 404, advice: 'Use one of the providers that the message names.' },
  revision_conflict: { httpStatus: 409, advice: 'Read the stream again and decide anew.' },
  event_conflict: {
    httpStatus: 409,
    advice: 'An id names one event for ever; use a new id for another body.',
  },
  event_gap: { httpStatus: 409, advice: 'Send again from the number after "accepted".' },
  turn_running: { httpStatus: 409, advice: 'Wait for the end of the turn, or abort it.' },
  compaction_unsupported: { httpStatus: 409, advice: 'This bridge has no way to compact.' },
  no_history: { httpStatus: 409, advice: 'The source conversation holds no messages.' },
  summary_failed: { httpStatus: 502, advice: 'Nothing was changed; try again.' },
  too_slow: { httpStatus: 429, advice: 'Read faster, or subscribe again from the last seq that you read.' },
  overloaded: {
    httpStatus: 503,
    advice: 'Nothing was written; send it again in a moment, and less at once.',
  },
  too_large: { httpStatus: 413, advice: 'Send less at once.' },
  internal: { httpStatus: 500, advice: 'This is a fault of turnlog; the daemon log has the details.' },
  storage_full: {
    httpStatus: 507,
    advice: 'Make room on the disk; the outcome is unknown, retry with the same ids.',
  },
  store_failed: {
    httpStatus: 503,
    advice: 'See the daemon log; the outcome is unknown, retry with the same ids.',
  },
  unreachable: {
    httpStatus: 503,
    advice: 'Start the daemon, or wait for it; what a write came to is unknown, retry with the same ids.',
  },
  timed_out: { httpStatus: 504, advice: 'What a write came to is unknown; retry with the same ids.' },
  store_closed: { httpStatus: 503, advice: 'The daemon is stopping; connect again when it is back.' },
  store_locked: { httpStatus: 503, advice: 'Another process has this data directory open.' },
  store_damaged: {
    httpStatus: 503,
    advice: 'Keep a copy of the directory, then restore a backup or repair the copy.',
  },
  store_version_unknown: {
    httpStatus: 503,
    advice: 'Use the version of turnlog that wrote this store, or a newer one.',
  },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export type ErrorDetails = Readonly<Record<string, unknown>>;

/** The one shape in which an error leaves turnlog, on every transport. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  details?: ErrorDetails;
}

/** What every package's own error class extends: a stable code, a message that says what to do, typed details. */
export class TurnlogError extends Error {
  override readonly name: string = 'TurnlogError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: ErrorDetails,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message, ...(this.details && { details: this.details }) };
  }
}

/** A value that breaks the vocabulary: a key, a field or a record that no event may hold. */
export class EventError extends TurnlogError {
  override readonly name = 'EventError';
}

/** Says that a state the program excludes has come about. Never caused by input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new TurnlogError('internal', `assertion failed: ${message}`);
}
