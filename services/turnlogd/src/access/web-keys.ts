import { isProvider, sessionKeyOf } from '@turnlog/events';

const PREFIX = 'web:';

/** The key of what a web caller names by an opaque session id. */
export function webKey(session: string): string {
  return PREFIX + session;
}

/** What a web caller calls it; undefined where it is not his. */
export function sessionOfKey(key: string): string | undefined {
  return isWebKey(key) ? key.slice(PREFIX.length) : undefined;
}

export function isWebKey(key: string | undefined): boolean {
  return key !== undefined && key.length > PREFIX.length && key.startsWith(PREFIX);
}

/** A key before all those of web callers, in the order in which keys are listed. */
export const BEFORE_WEB_KEYS = PREFIX;

/**
 * Whether a session key can be that of a web caller's conversation, or of this one. It is the same for the
 * desktop's conversation of the session, so that a change of the client keeps the resume id.
 */
export function isWebSession(sessionKey: string, session?: string): boolean {
  for (let end = sessionKey.indexOf(':'); end !== -1; end = sessionKey.indexOf(':', end + 1)) {
    const provider = sessionKey.slice(end + 1);
    if (end === 0 || !isProvider(provider)) continue;
    const own = session ?? sessionKey.slice(0, end);
    if (sessionKeyOf(webKey(own), provider) === sessionKey) return true;
  }
  return false;
}
