import {
  checkSubscription,
  type Envelope,
  type LiveEvent,
  type SubscriptionName,
  type SubscriptionParameters,
} from '@turnlog/events';
import type { Log } from '@turnlog/log';
import type { LiveHub } from './live-hub.ts';

/** What a subscription gives. */
export type Followed<Name extends SubscriptionName> = Name extends 'log.subscribe' ? Envelope : LiveEvent;

type Subscribe = <Name extends SubscriptionName>(
  name: Name,
  parameters: SubscriptionParameters<Name>,
  signal: AbortSignal,
) => AsyncIterable<Followed<Name>>;

type Subscriptions = {
  [Name in SubscriptionName]: (
    parameters: SubscriptionParameters<Name>,
    signal: AbortSignal,
  ) => AsyncIterable<Followed<Name>>;
};

/** The one way to follow anything, for every transport. */
export function createSubscriptions(log: Log, live: LiveHub): Subscribe {
  const subscriptions: Subscriptions = {
    'log.subscribe': ({ from = 1 }, signal) => log.follow({ from, signal }),
    'live.subscribe': (parameters, signal) => live.subscribe(parameters, signal),
  };
  return (name, parameters, signal) => {
    checkSubscription(name, parameters);
    return subscriptions[name](parameters, signal);
  };
}
