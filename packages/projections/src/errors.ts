import { type ErrorDetails, TurnlogError } from '@turnlog/events';

/** What the projections refuse, or what keeps them from following the log. */
export class ProjectionError extends TurnlogError {
  override readonly name = 'ProjectionError';
}

/** LevelDB names a full disk in the message only; the file system names it by code. */
const DISK_FULL = /ENOSPC|EDQUOT|no space left on device|disk quota exceeded/i;

/** The message and code of an error and of everything that caused it, outermost first. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let cause = error; cause !== undefined && cause !== null && parts.length < 8; ) {
    if (!(cause instanceof Error)) {
      parts.push(String(cause));
      break;
    }
    parts.push(cause.message);
    cause = cause.cause;
  }
  return parts.join(': ');
}

/** The code of an error or of the first of its causes that has one, such as `EISDIR` or `LEVEL_LOCKED`. */
export function causeCodes(error: unknown): string[] {
  const codes: string[] = [];
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    if ('code' in cause && typeof cause.code === 'string') codes.push(cause.code);
  }
  return codes;
}

/** An error of the disk as `storage_full` where the disk is full, else as `store_failed`. */
export function storageError(error: unknown, doing: string, details: ErrorDetails = {}): ProjectionError {
  if (error instanceof ProjectionError) return error;
  const description = describeError(error);
  const full = DISK_FULL.test(description) || causeCodes(error).some((code) => DISK_FULL.test(code));
  return new ProjectionError(full ? 'storage_full' : 'store_failed', `${doing}: ${description}`, details, {
    cause: error,
  });
}
