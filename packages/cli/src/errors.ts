import { TurnlogError } from '@turnlog/events';

/** What keeps the command line from doing what it was asked. */
export class CliError extends TurnlogError {
  override readonly name = 'CliError';
}
