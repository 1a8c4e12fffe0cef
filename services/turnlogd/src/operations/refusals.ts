import { DaemonError } from '../errors.ts';

export function conversationNotFound(conversationKey: string): DaemonError {
  return new DaemonError('conversation_not_found', 'no conversation of this key is known', {
    conversationKey,
  });
}

/** Whoever follows something and does not read is let go, for what it leaves unread is held for it. */
export function tooSlow(): DaemonError {
  return new DaemonError(
    'too_slow',
    'too much was left unread; subscribe again from the last seq that was read',
  );
}
