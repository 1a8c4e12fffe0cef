import type { Service } from '../service.ts';
import type { Handlers } from './dispatcher.ts';

type TokenHandlers = Pick<Handlers, 'token.create' | 'token.list' | 'token.revoke'>;

export function tokenHandlers({ tokens }: Service): TokenHandlers {
  return {
    'token.create': ({ scope = 'local', name }) =>
      tokens.create({ scope, ...(name !== undefined && { name }) }),
    'token.list': async () => ({ tokens: tokens.list() }),
    'token.revoke': ({ id }) => tokens.revoke(id),
  };
}
