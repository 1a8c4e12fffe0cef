import type { EventMeta, UsageReport } from '@turnlog/events';
import type { Fact } from './facts.ts';
import { closing, emptyGathering, type Gathering } from './gathering.ts';
import { type BridgeState, bridgeFields } from './state.ts';

/** The end of a turn: what was still gathered, and then the end itself. */
export function decideEndOfTurn(
  state: BridgeState,
  gathering: Gathering,
  end: { turnId: string; text?: string; stopReason?: string },
  usage: UsageReport | undefined,
  meta: EventMeta,
): Fact[] {
  const { thinking, text, whole } = closing(gathering, end.text);
  const fields = { ...bridgeFields(state), turnId: end.turnId };
  return [
    ...thinkingFact(fields, thinking, meta),
    {
      type: 'turn_ended',
      data: {
        ...fields,
        ...(text !== undefined && { text }),
        ...(whole && { whole }),
        ...(usage !== undefined && { usage }),
        ...(end.stopReason !== undefined && { stopReason: end.stopReason }),
      },
      meta,
    },
  ];
}

type InterruptionReason = Fact<'turn_interrupted'>['data']['reason'];

/** The open turn's end that nobody saw; nothing where no turn is open. */
export function decideInterruption(
  state: BridgeState,
  gathering: Gathering | undefined,
  reason: InterruptionReason,
  message: string | undefined,
  meta: EventMeta,
): Fact[] {
  if (state.turn === undefined) return [];
  const { turnId } = state.turn;
  const { thinking, text } = closing(gathering ?? emptyGathering(turnId, undefined), undefined);
  const fields = { ...bridgeFields(state), turnId };
  return [
    ...thinkingFact(fields, thinking, meta),
    {
      type: 'turn_interrupted',
      data: {
        ...fields,
        reason,
        ...(message !== undefined && { message }),
        ...(text !== undefined && { text }),
      },
      meta,
    },
  ];
}

type StopData = Fact<'bridge_stopped'>['data'];

const INTERRUPTION_OF_STOP: Record<StopData['reason'], InterruptionReason> = {
  requested: 'bridge_stopped',
  idle: 'bridge_stopped',
  compacted: 'bridge_stopped',
  replaced: 'bridge_stopped',
  exited: 'exited',
  failed: 'failed',
  restart: 'restart',
};

/** The end of a bridge. It takes with it its open turn, the questions it asked and the prompts that wait. */
export function decideStop(
  state: BridgeState,
  gathering: Gathering | undefined,
  stop: Pick<StopData, 'reason' | 'exitCode' | 'message'>,
  meta: EventMeta,
): Fact[] {
  const { bridgeId } = state;
  return [
    ...decideInterruption(state, gathering, INTERRUPTION_OF_STOP[stop.reason], stop.message, meta),
    ...state.openRequestIds.map(
      (requestId): Fact => ({
        type: 'request_answered',
        data: { ...bridgeFields(state), requestId, action: 'cancelled', by: 'bridge_stopped' },
        meta,
      }),
    ),
    ...state.waitingPrompts.map(
      ({ promptId }): Fact => ({
        type: 'prompt_dropped',
        data: { bridgeId, promptId, reason: 'bridge_stopped' },
        meta,
      }),
    ),
    { type: 'bridge_stopped', data: { ...bridgeFields(state), ...stop }, meta },
  ];
}

function thinkingFact(
  fields: { bridgeId: string; provider: string; sessionKey?: string; turnId: string },
  thinking: string,
  meta: EventMeta,
): Fact[] {
  return thinking === '' ? [] : [{ type: 'turn_output', data: { ...fields, thinking }, meta }];
}
