import { ERROR_CODES, type ErrorBody, type ErrorCode, TurnlogError } from '@turnlog/events';

/** An error that the daemon answered, or that kept the client from reaching it. */
export class ClientError extends TurnlogError {
  override readonly name = 'ClientError';
}

/** The error that a daemon answered; whatever answers in another shape is not a turnlog daemon. */
export function errorOf(body: unknown, place: string): ClientError {
  const error = body as Partial<ErrorBody> | null | undefined;
  if (typeof error?.code !== 'string' || !Object.hasOwn(ERROR_CODES, error.code)) return notTurnlog(place);
  return new ClientError(error.code as ErrorCode, String(error.message), error.details);
}

export function notTurnlog(place: string, cause?: unknown): ClientError {
  return new ClientError('unreachable', `what answers at ${place} is no turnlog daemon`, undefined, {
    cause,
  });
}

export function unreachable(place: string, cause?: unknown): ClientError {
  return new ClientError('unreachable', `no daemon answers at ${place}`, undefined, { cause });
}

export function timedOut(what: string, timeoutMs: number): ClientError {
  return new ClientError('timed_out', `${what} was not answered within ${timeoutMs} ms`, { timeoutMs });
}

/** What passes by itself when the daemon is back or has room; the same call may then be made again. */
const PASSING = new Set<ErrorCode>([
  'unreachable',
  'timed_out',
  'store_closed',
  'store_failed',
  'store_locked',
  'storage_full',
]);

export function isPassing(error: unknown): error is ClientError {
  return error instanceof ClientError && PASSING.has(error.code);
}

export function hasCode(error: unknown, code: ErrorCode): error is ClientError {
  return error instanceof ClientError && error.code === code;
}
