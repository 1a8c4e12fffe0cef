import Type from 'typebox';
import { Exactly, Key, OneOf } from '../schema.ts';
import { operation } from './operation.ts';

/**
 * What a token opens. `local`: everything. `web`: the conversations and transcripts whose key begins with
 * `web:`, which its holder names without that.
 */
export const TokenScope = OneOf('local', 'web');
export type TokenScope = Type.Static<typeof TokenScope>;

/** A short text by which people know a token again. */
const TokenName = Type.String({ minLength: 1, maxLength: 200 });

const described = {
  id: Key,
  scope: TokenScope,
  name: Type.Optional(TokenName),
  /** Milliseconds since 1970. */
  createdAt: Type.Number(),
};

/** Tokens are of one machine and not of the log: they are kept in a file of the data directory, hashed. */
export const tokenOperations = {
  'token.create': operation({
    writes: false,
    parameters: { scope: Type.Optional(TokenScope), name: Type.Optional(TokenName) },
    /** `token` is told this once and kept nowhere. */
    result: { ...described, token: Type.String() },
  }),
  'token.list': operation({
    writes: false,
    parameters: {},
    result: { tokens: Type.Array(Exactly(described)) },
  }),
  /** Also ends the connections that were opened with the token. */
  'token.revoke': operation({ writes: false, parameters: { id: Key }, result: described }),
} as const;
