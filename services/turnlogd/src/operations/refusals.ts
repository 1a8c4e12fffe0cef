import { DaemonError } from '../errors.ts';

export function conversationNotFound(conversationKey: string): DaemonError {
  return new DaemonError('conversation_not_found', 'no conversation of this key is known', {
    conversationKey,
  });
}
