import { TurnlogError } from '@turnlog/events';

/** What the log refuses, or what its store could not do. */
export class LogError extends TurnlogError {
  override readonly name = 'LogError';
}

const DISK_FULL = /ENOSPC|No space left on device|EDQUOT|Disk quota exceeded/iu;
const CLOSED = new Set(['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN']);

/** Damage, named by the place it was found at. */
export function damagedAt(seq: number, what: string, cause?: unknown): LogError {
  return new LogError('store_damaged', `the log is damaged: ${what}`, { seq }, { cause });
}

/** A record that must be there and is not. */
export function missingAt(seq: number): LogError {
  return damagedAt(seq, `event ${seq} is missing`);
}

export function closedError(): LogError {
  return new LogError('store_closed', 'the log is closed');
}

/** What LevelDB says of files that it cannot make sense of, or that are cut to nothing or gone. */
const BROKEN = /Corruption|\.(ldb|sst): Invalid argument|does not exist|No such file|not found/iu;

/** Whether a database is damaged, rather than kept from working by the system. */
export function isBroken(error: unknown): boolean {
  return codesOf(error).includes('LEVEL_CORRUPTION') || BROKEN.test(reasonOf(error));
}

/** Says in turnlog's words why the store failed: `storage_full`, or `store_failed`. */
export function storeErrorOf(cause: unknown, doing: string): TurnlogError {
  if (cause instanceof TurnlogError) return cause;
  const reason = reasonOf(cause);
  return DISK_FULL.test(reason)
    ? new LogError('storage_full', `the disk is full: ${doing} failed (${reason})`, undefined, { cause })
    : new LogError('store_failed', `${doing} failed (${reason})`, undefined, { cause });
}

/** The same for a read, which fails with `store_closed` where the log was closed under it. */
export function readErrorOf(cause: unknown): TurnlogError {
  if (cause instanceof TurnlogError) return cause;
  if (codesOf(cause).some((code) => CLOSED.has(code))) return closedError();
  if (!isBroken(cause)) return storeErrorOf(cause, 'reading the log');
  const message = `a database of the log is damaged (${reasonOf(cause)})`;
  return new LogError('store_damaged', message, undefined, { cause });
}

/** Every code of an error and its causes, outermost first. */
export function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as NodeJS.ErrnoException;
    if (code !== undefined) codes.push(code);
  }
  return codes;
}

/** The message of an error and its causes, outermost first: LevelDB says what happened only there. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
