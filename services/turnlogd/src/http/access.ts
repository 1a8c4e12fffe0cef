import { createHash, timingSafeEqual } from 'node:crypto';
import { DaemonError } from '../errors.ts';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

export interface Access {
  /** @throws DaemonError `forbidden_origin` for a foreign Host or Origin */
  checkOrigin(headers: { host?: string | undefined; origin?: string | string[] | undefined }): void;
  /** @throws DaemonError `unauthorized` */
  checkToken(authorization: string | undefined): void;
}

/**
 * Who may call. A page of another site reaches a loopback port as well, by its own name or by one that
 * it lets resolve to 127.0.0.1; its Origin or its Host gives it away.
 * @param hostNames names beside those of the loopback by which this daemon is called
 */
export function createAccess(token: string, port: number, hostNames: readonly string[] = []): Access {
  const hosts = new Set([...LOOPBACK_NAMES, ...hostNames].map((name) => `${name.toLowerCase()}:${port}`));
  const expected = digest(token);
  return {
    checkOrigin({ host, origin }) {
      if (host === undefined || !hosts.has(host.toLowerCase())) {
        throw new DaemonError('forbidden_origin', 'the Host header names another address than this daemon');
      }
      if (origin === undefined) return;
      const isOwn =
        typeof origin === 'string' && [...hosts].some((own) => origin.toLowerCase() === `http://${own}`);
      if (!isOwn)
        throw new DaemonError('forbidden_origin', 'the request comes from a page of another origin');
    },
    checkToken(authorization) {
      const given = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
      if (given === undefined || !timingSafeEqual(digest(given), expected)) {
        throw new DaemonError(
          'unauthorized',
          'send the header "Authorization: Bearer <token>" with what the file "token" in the data directory holds',
        );
      }
    },
  };
}

/** Of one length, so that they can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
