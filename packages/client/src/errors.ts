import { ERROR_CODES, type ErrorBody, type ErrorCode, TurnlogError } from '@turnlog/events';

/** An error that the daemon answered, or that kept the client from reaching it. */
export class ClientError extends TurnlogError {
  override readonly name = 'ClientError';
}

/** The error of an answer; whatever answered in another shape is not a turnlog daemon. */
export function errorOf(body: unknown, status: number): ClientError {
  const error = (body as { error?: Partial<ErrorBody> } | undefined)?.error;
  if (typeof error?.code !== 'string' || !Object.hasOwn(ERROR_CODES, error.code)) {
    return new ClientError('internal', `the answer is no answer of turnlog (HTTP status ${status})`);
  }
  return new ClientError(error.code as ErrorCode, String(error.message), error.details);
}
