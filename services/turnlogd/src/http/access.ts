import type { Caller } from '../access/caller.ts';
import type { Tokens } from '../access/tokens.ts';
import { DaemonError } from '../errors.ts';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/i;

export interface Access {
  /** @throws DaemonError `forbidden_origin` for a foreign Host or Origin */
  checkOrigin(headers: { host?: string | undefined; origin?: string | string[] | undefined }): void;
  /** @throws DaemonError `unauthorized` */
  callerOf(authorization: string | undefined): Caller;
}

/**
 * Who may call. A page of another site reaches a loopback port as well, by its own name or by one that
 * it lets resolve to 127.0.0.1; its Origin or its Host gives it away.
 * @param hostNames names beside those of the loopback by which this daemon is called
 */
export function createAccess(
  tokens: Pick<Tokens, 'callerOf'>,
  port: number,
  hostNames: readonly string[] = [],
): Access {
  const hosts = new Set([...LOOPBACK_NAMES, ...hostNames].map((name) => `${name.toLowerCase()}:${port}`));
  return {
    checkOrigin({ host, origin }) {
      // The port of a loopback name may be that of a forwarding: who resolves a name of his own to the
      // loopback gives himself away by the name.
      if (host === undefined || !(hosts.has(host.toLowerCase()) || LOOPBACK_HOST.test(host))) {
        throw new DaemonError('forbidden_origin', 'the Host header names another address than this daemon');
      }
      if (origin === undefined) return;
      const isOwn =
        typeof origin === 'string' && [...hosts].some((own) => origin.toLowerCase() === `http://${own}`);
      if (!isOwn)
        throw new DaemonError('forbidden_origin', 'the request comes from a page of another origin');
    },
    callerOf(authorization) {
      const given = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
      const caller = given === undefined ? undefined : tokens.callerOf(given);
      if (caller !== undefined) return caller;
      throw new DaemonError(
        'unauthorized',
        'send the header "Authorization: Bearer <token>" with what the file "token" in the data directory holds',
      );
    },
  };
}
