import { TurnlogError } from '@turnlog/events';

/** What the command's exit status says. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** `migrate` could not read or bring in everything. */
  incomplete: 2,
  /** Another process has the data directory open. */
  locked: 3,
  /** Something that was checked is not as it should be: a projection differs, or the store is damaged. */
  different: 4,
  /** The command itself was mistyped. */
  usage: 64,
} as const;

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof TurnlogError)) return EXIT.failed;
  if (error.code === 'store_locked') return EXIT.locked;
  return error.code === 'store_damaged' ? EXIT.different : EXIT.failed;
}
