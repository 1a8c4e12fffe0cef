import { createHash } from 'node:crypto';

const DIGEST_LENGTH = 24;

/** How CrewCode names the file of a conversation or a scope: a key may hold anything, a file name may not. */
export function fileDigestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, DIGEST_LENGTH);
}
