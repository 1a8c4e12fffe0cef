import { createHash, randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { TokenScope } from '@turnlog/events';
import { type FileSystem, readTextFile, writeFileDurably } from '@turnlog/log';
import { DaemonError } from '../errors.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { type Caller, LOCAL_CALLER } from './caller.ts';

/*
 * The tokens of a data directory: the one in its file `token`, and those in `tokens.json`, of which only hashes
 * are kept. That file is written whole and renamed into place before a token counts or ceases to: after a crash
 * a token that somebody was told is there, and one whose revocation was answered is not.
 */

export const TOKENS_MAX = 1_000;
const SECRET_BYTES = 32;
const ID_BYTES = 6;
const OWNER_ONLY = 0o600;

interface Stored {
  id: string;
  scope: TokenScope;
  name?: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** SHA-256 of the token, in hex. */
  hash: string;
}

/** A token as it is listed: what opens is told once, when it is made. */
export type TokenInfo = Omit<Stored, 'hash'>;

interface Known {
  stored: Stored;
  caller: Caller;
  revoke(): void;
}

export interface TokensOptions {
  fileSystem: FileSystem;
  /** Of `tokens.json`. */
  path: string;
  /** What the file `token` holds. */
  ownToken: string;
  clock: () => number;
}

export class Tokens {
  readonly #options: TokensOptions;
  readonly #ownHash: string;
  /** One change of the file at a time. */
  readonly #changes = new KeyedLock();
  /** By the hash: finding one says nothing of how much of another was right. */
  #known: ReadonlyMap<string, Known>;

  private constructor(options: TokensOptions, stored: readonly Stored[]) {
    this.#options = options;
    this.#ownHash = hashOf(options.ownToken);
    this.#known = new Map(stored.map((each) => [each.hash, known(each)]));
  }

  /** @throws DaemonError `store_damaged` where the file holds something else */
  static async open(options: TokensOptions): Promise<Tokens> {
    const text = await readTextFile(options.fileSystem, options.path);
    return new Tokens(options, text === undefined ? [] : parse(text, options.path));
  }

  /** Who shows this token; undefined for one that opens nothing. */
  callerOf(token: string): Caller | undefined {
    const hash = hashOf(token);
    return hash === this.#ownHash ? LOCAL_CALLER : this.#known.get(hash)?.caller;
  }

  list(): TokenInfo[] {
    return [...this.#known.values()].map(({ stored }) => infoOf(stored));
  }

  /** @throws DaemonError `too_large` where there are as many as may be */
  async create(wanted: { scope: TokenScope; name?: string }): Promise<TokenInfo & { token: string }> {
    return await this.#changes.run('change', async () => {
      if (this.#known.size >= TOKENS_MAX) {
        throw new DaemonError(
          'too_large',
          `at most ${TOKENS_MAX} tokens at once; revoke one that is not used`,
        );
      }
      const token = randomBytes(SECRET_BYTES).toString('base64url');
      const id = randomBytes(ID_BYTES).toString('hex');
      const stored = { id, ...wanted, createdAt: this.#options.clock(), hash: hashOf(token) };
      await this.#replace(new Map(this.#known).set(stored.hash, known(stored)));
      return { ...infoOf(stored), token };
    });
  }

  /**
   * Ends what was opened with the token, too.
   * @throws DaemonError `token_not_found`
   */
  async revoke(id: string): Promise<TokenInfo> {
    return await this.#changes.run('change', async () => {
      const revoked = [...this.#known.values()].find(({ stored }) => stored.id === id);
      if (revoked === undefined) {
        throw new DaemonError('token_not_found', 'there is no token of this id', { id });
      }
      const others = new Map(this.#known);
      others.delete(revoked.stored.hash);
      await this.#replace(others);
      revoked.revoke();
      return infoOf(revoked.stored);
    });
  }

  async #replace(next: ReadonlyMap<string, Known>): Promise<void> {
    const { fileSystem, path } = this.#options;
    const tokens = [...next.values()].map(({ stored }) => stored);
    await writeFileDurably(fileSystem, path, `${JSON.stringify({ tokens })}\n`, { mode: OWNER_ONLY });
    this.#known = next;
  }
}

function known(stored: Stored): Known {
  const revoked = new AbortController();
  // Each connection that was opened with the token listens.
  setMaxListeners(0, revoked.signal);
  return {
    stored,
    caller: { scope: stored.scope, tokenId: stored.id, revoked: revoked.signal },
    revoke: () => revoked.abort(),
  };
}

function infoOf({ hash: _, ...info }: Stored): TokenInfo {
  return info;
}

function parse(text: string, path: string): Stored[] {
  try {
    const { tokens } = (JSON.parse(text) ?? {}) as { tokens?: unknown };
    if (Array.isArray(tokens) && tokens.every(isStored)) return tokens;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new DaemonError('store_damaged', `${path} is damaged; remove it, which revokes all of its tokens`, {
    path,
  });
}

function isStored(value: unknown): value is Stored {
  const { id, scope, name, createdAt, hash } = (value ?? {}) as Partial<Record<keyof Stored, unknown>>;
  return (
    typeof id === 'string' &&
    (scope === 'local' || scope === 'web') &&
    (name === undefined || typeof name === 'string') &&
    typeof createdAt === 'number' &&
    typeof hash === 'string'
  );
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
