import { type EventMeta, JsonText, type ReportedEvent } from '@turnlog/events';
import type { Fact } from './facts.ts';
import { type BridgeState, bridgeFields } from './state.ts';

/** The reports that are a fact by themselves or none; the others need the state of a turn. */
export type PlainReport = Exclude<
  ReportedEvent,
  {
    type:
      | 'prompt'
      | 'turn_start'
      | 'turn_end'
      | 'text_delta'
      | 'thinking_delta'
      | 'usage_update'
      | 'error'
      | 'closed'
      | 'idle_stopped';
  }
>;

/** The fact that a report is; undefined for what is shown to hosts and kept nowhere. */
export function factOf(report: PlainReport, state: BridgeState, meta: EventMeta): Fact | undefined {
  const bridge = bridgeFields(state);
  switch (report.type) {
    case 'ready':
    case 'status':
    case 'tool_update':
    case 'handoff_summary':
      return undefined;
    case 'session_id':
      return sessionBound(report, state, meta);
    case 'tool_start': {
      const { turnId, toolCallId, toolName, args } = report;
      return {
        type: 'tool_started',
        data: { ...bridge, turnId, toolCallId, name: toolName, ...opaque({ args }) },
        meta,
      };
    }
    case 'tool_end': {
      const { turnId, toolCallId, result, args, isError = false, title } = report;
      return {
        type: 'tool_ended',
        data: {
          ...bridge,
          turnId,
          toolCallId,
          ...(title !== undefined && { title }),
          ...opaque({ args, result }),
          isError,
        },
        meta,
      };
    }
    case 'follow_up_queued': {
      const { promptId, text } = report;
      const data = { bridgeId: state.bridgeId, promptId, text, place: state.waitingPrompts.length };
      return { type: 'prompt_queued', data, meta };
    }
    case 'follow_up_removed':
      return promptDropped(report, state, meta);
    case 'user_request': {
      const { type: _, bridgeId: __, options, ...data } = withoutSeq(report);
      return { type: 'request_opened', data: { ...bridge, ...data, ...opaque({ options }) }, meta };
    }
    case 'user_request_resolved': {
      const { requestId, action, by = 'host' } = report;
      return { type: 'request_answered', data: { ...bridge, requestId, action, by }, meta };
    }
    case 'compaction_event':
      return compaction(report, state, meta);
  }
}

function sessionBound(
  { sessionId, resumed = false }: PlainReport & { type: 'session_id' },
  state: BridgeState,
  meta: EventMeta,
): Fact {
  const turnId = state.turn?.turnId;
  return {
    type: 'session_bound',
    data: { ...bridgeFields(state), sessionId, resumed, ...(turnId !== undefined && { turnId }) },
    meta,
  };
}

/** A prompt that was sent leaves the queue with the turn that it begins. */
function promptDropped(
  { promptId, reason }: PlainReport & { type: 'follow_up_removed' },
  state: BridgeState,
  meta: EventMeta,
): Fact | undefined {
  if (reason === 'sent') return undefined;
  const why = reason === 'cleared' ? 'aborted' : 'cancelled';
  return { type: 'prompt_dropped', data: { bridgeId: state.bridgeId, promptId, reason: why }, meta };
}

function compaction(
  report: PlainReport & { type: 'compaction_event' },
  state: BridgeState,
  meta: EventMeta,
): Fact {
  const { type: _, bridgeId: __, status, provider: ___, ...told } = withoutSeq(report);
  const { summary, keptFromTurnId, resetContext, ...shared } = told;
  const data = {
    ...bridgeFields(state),
    ...shared,
    automatic: report.automatic ?? false,
    source: 'native' as const,
  };
  switch (status) {
    case 'started':
      return { type: 'compaction_started', data, meta };
    case 'failed':
      return { type: 'compaction_failed', data, meta };
    case 'detected':
      return { type: 'compaction_detected', data, meta };
    case 'completed':
      return {
        type: 'compaction_completed',
        data: {
          ...data,
          ...(summary !== undefined && { summary }),
          ...(keptFromTurnId !== undefined && { keptFromTurnId }),
          ...(resetContext !== undefined && { resetContext }),
        },
        meta,
      };
  }
}

/** Opaque values as their JSON text; those that are not there stay away. */
function opaque<Name extends string>(values: Record<Name, unknown>): Partial<Record<Name, JsonText>> {
  const texts: Partial<Record<Name, JsonText>> = {};
  for (const name in values) {
    if (values[name] !== undefined) texts[name] = JsonText.of(values[name]);
  }
  return texts;
}

function withoutSeq<Report extends object>(report: Report): Report {
  const { seq: _, ...rest } = report as Report & { seq?: number };
  return rest as Report;
}
