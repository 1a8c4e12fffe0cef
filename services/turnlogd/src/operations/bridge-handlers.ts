import { checkReports, streamOf } from '@turnlog/events';
import { newEvent, type Service } from '../service.ts';
import type { Handlers } from './dispatcher.ts';

type BridgeHandlers = Pick<
  Handlers,
  'bridge.record' | 'bridge.event' | 'bridge.list' | 'bridge.stop' | 'bridge.resetSession'
>;

export function bridgeHandlers({ bridges, log, streams }: Service): BridgeHandlers {
  return {
    'bridge.record': (parameters) => bridges.record(parameters),
    'bridge.event': ({ bridgeId, first, events }) =>
      bridges.report({
        bridgeId,
        ...(first !== undefined && { first }),
        reports: checkReports(bridgeId, events),
      }),
    'bridge.list': async () => ({ bridges: bridges.list() }),
    'bridge.stop': ({ bridgeId }) => bridges.stop(bridgeId),
    'bridge.resetSession': async ({ sessionKey, conversationKey }) => {
      const stream =
        conversationKey === undefined ? streamOf.session(sessionKey) : streamOf.conversation(conversationKey);
      const conversation = conversationKey === undefined ? {} : { conversationKey };
      return await streams.run(stream, async () => {
        const { seq } = await log.append(stream, [
          newEvent('session_reset', { sessionKey, ...conversation, reason: 'requested' }),
        ]);
        return { seq };
      });
    },
  };
}
