import { TurnlogError } from '@turnlog/events';

/** What an operation refuses, or what keeps the daemon from serving. */
export class DaemonError extends TurnlogError {
  override readonly name = 'DaemonError';
}
