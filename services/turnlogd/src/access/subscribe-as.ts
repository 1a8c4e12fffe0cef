import { checkSubscription, type SubscriptionName } from '@turnlog/events';
import type { Daemon } from '../daemon.ts';
import { boundaryOf } from './boundary.ts';
import type { Caller } from './caller.ts';

/**
 * Follows something as a caller may; the parameters come from outside and are checked.
 * @throws TurnlogError `invalid_argument`, `forbidden`
 */
export type SubscribeAs = (
  name: SubscriptionName,
  parameters: unknown,
  caller: Caller,
  signal: AbortSignal,
) => AsyncIterable<{ seq?: number }>;

export function subscribeAs(subscribe: Daemon['subscribe']): SubscribeAs {
  return (name, parameters, caller, signal) => {
    checkSubscription(name, parameters);
    const signals = caller.revoked === undefined ? [signal] : [signal, caller.revoked];
    return subscribe(name, boundaryOf(caller).follow(name, parameters), AbortSignal.any(signals));
  };
}
