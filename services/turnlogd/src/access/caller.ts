import type { TokenScope } from '@turnlog/events';

/** Who calls, as far as it matters: what the token that was shown opens. */
export interface Caller {
  readonly scope: TokenScope;
  /** The token's id; absent for the one of the data directory and for who has the directory itself. */
  readonly tokenId?: string;
  /** Aborts when the token is revoked. */
  readonly revoked?: AbortSignal;
}

/** Whoever may read the data directory may do everything. */
export const LOCAL_CALLER: Caller = { scope: 'local' };
