import Type from 'typebox';
import { Count, Exactly, Key, Label } from '../schema.ts';
import { BRIDGE_EVENTS_MAX, operation, Page, Written } from './operation.ts';

const Bridge = Exactly({
  bridgeId: Key,
  provider: Key,
  mode: Type.String(),
  state: Type.String(),
  conversationKey: Type.Optional(Key),
  sessionKey: Type.Optional(Key),
  turnId: Type.Optional(Key),
  accepted: Type.Optional(Count),
  /** The provider's process, where the daemon owns one. */
  pid: Type.Optional(Count),
  /** When it began, in milliseconds since 1970. */
  since: Type.Number(),
});

export const bridgeOperations = {
  'bridge.record': operation({
    writes: true,
    parameters: {
      bridgeId: Key,
      provider: Key,
      conversationKey: Type.Optional(Key),
      sessionKey: Type.Optional(Key),
      model: Type.Optional(Label),
      cwd: Type.Optional(Label),
    },
    result: {
      ...Written,
      ownerToken: Type.String(),
      /** The last event number that is accepted; the host goes on with the next. */
      accepted: Count,
      durableThrough: Count,
      /** The bridge was open already, and this host now reports for it. */
      attached: Type.Boolean(),
    },
  }),
  'bridge.event': operation({
    writes: true,
    parameters: {
      bridgeId: Key,
      /** The number of the first event: 1, 2, 3 … over the life of the bridge. */
      first: Type.Optional(Type.Integer({ minimum: 1 })),
      events: Type.Array(Type.Unknown(), { maxItems: BRIDGE_EVENTS_MAX }),
    },
    result: { ...Written, accepted: Count, durableThrough: Count, emitted: Type.Array(Type.Unknown()) },
  }),
  /** In the order of their ids; `next` is there where more follow, and is the `after` of the next page. */
  'bridge.list': operation({
    writes: false,
    parameters: Page,
    result: { bridges: Type.Array(Bridge), next: Type.Optional(Key) },
  }),
  'bridge.stop': operation({
    writes: true,
    parameters: { bridgeId: Key },
    result: Written,
  }),
  'bridge.resetSession': operation({
    writes: true,
    parameters: { sessionKey: Key, conversationKey: Type.Optional(Key) },
    result: Written,
  }),
} as const;
