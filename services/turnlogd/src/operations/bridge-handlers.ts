import { checkReports, streamOf } from '@turnlog/events';
import { isWebKey } from '../access/web-keys.ts';
import type { BridgeCall } from '../bridges/bridge-call.ts';
import { appendFor } from '../commands/commands.ts';
import { newEvent, type Service } from '../service.ts';
import type { Call, Handlers } from './dispatcher.ts';

type BridgeHandlers = Pick<
  Handlers,
  'bridge.record' | 'bridge.event' | 'bridge.list' | 'bridge.stop' | 'bridge.resetSession'
>;

export function bridgeHandlers({ bridges, log, streams }: Service): BridgeHandlers {
  return {
    'bridge.record': (parameters, call) => bridges.record(parameters, bridgeCall(call)),
    'bridge.event': ({ bridgeId, first, events }, call) =>
      bridges.report(
        { bridgeId, ...(first !== undefined && { first }), reports: checkReports(bridgeId, events) },
        bridgeCall(call),
      ),
    'bridge.list': (page, call) => bridges.list(page, bridgeCall(call)),
    'bridge.stop': ({ bridgeId }, call) => bridges.stop(bridgeId, bridgeCall(call)),
    'bridge.resetSession': async ({ sessionKey, conversationKey }, { command }) => {
      const stream =
        conversationKey === undefined ? streamOf.session(sessionKey) : streamOf.conversation(conversationKey);
      const conversation = conversationKey === undefined ? {} : { conversationKey };
      return await streams.run(stream, async () => {
        const event = newEvent('session_reset', { sessionKey, ...conversation, reason: 'requested' });
        const { seq } = await appendFor(log, stream, [event], command && { command, answer: {} });
        return { seq };
      });
    },
  };
}

/** A web caller has the bridges of web conversations and no other, whatever id he names. */
function bridgeCall({ caller, command }: Call): BridgeCall {
  return {
    command,
    mayUse: ({ conversationKey }) => caller.scope === 'local' || isWebKey(conversationKey),
  };
}
