import { TurnlogError } from '@turnlog/events';

/** What the command's exit status says. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** `migrate` could not read or bring in everything. */
  incomplete: 2,
  /** Another process has the data directory open. */
  locked: 3,
  /** Something that was checked is not as it should be. */
  different: 4,
  /** The command itself was mistyped. */
  usage: 64,
} as const;

export function exitCodeOf(error: unknown): number {
  return error instanceof TurnlogError && error.code === 'store_locked' ? EXIT.locked : EXIT.failed;
}
