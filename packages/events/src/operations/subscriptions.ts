import Type from 'typebox';
import { Exactly, Key } from '../schema.ts';

const FromSeq = Type.Optional(Type.Integer({ minimum: 1 }));

/** What can be followed; each gives values until its subscriber ends it. */
export const subscriptions = {
  /** Every event of the log from a seq on (1 unless said), then as they are committed. */
  'log.subscribe': { parameters: Exactly({ from: FromSeq }) },
  /**
   * The live events of bridges: with `from` the structural ones from a seq on, then everything, deltas
   * included, as it happens; without it only what happens from now on.
   */
  'live.subscribe': {
    parameters: Exactly({ from: FromSeq, bridgeId: Type.Optional(Key), conversationKey: Type.Optional(Key) }),
  },
} as const;

export type SubscriptionName = keyof typeof subscriptions;
export type SubscriptionParameters<Name extends SubscriptionName> = Type.Static<
  (typeof subscriptions)[Name]['parameters']
>;

export function isSubscriptionName(name: string): name is SubscriptionName {
  return Object.hasOwn(subscriptions, name);
}
