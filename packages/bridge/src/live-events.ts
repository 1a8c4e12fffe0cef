import type { CommittedEvent, EventData, JsonText, LiveEvent, UsageReport } from '@turnlog/events';

/**
 * The live events of a committed event, as hosts are told them: a pure map, so that the order which hosts
 * see is the order of the log. Text appears as deltas, for it is not told otherwise to who comes late.
 * The last of the list carries the event's seq.
 */
export function liveEventsOf(event: CommittedEvent): LiveEvent[] {
  const told = [...outputOf(event), ...structuralEventsOf(event)];
  return told.map((live, place) => (place === told.length - 1 ? { ...live, seq: event.seq } : live));
}

/** The same without the text, for those who were told the deltas as they came. */
export function structuralEventsOf(event: CommittedEvent): LiveEvent[] {
  switch (event.type) {
    case 'bridge_started':
      // A host that owns its bridge says itself when it is ready.
      return event.data.how === undefined
        ? []
        : [{ type: 'ready', bridgeId: event.data.bridgeId, seq: event.seq }];
    case 'bridge_stopped':
      return [stopped(event.data, event.seq)];
    case 'session_bound': {
      const { bridgeId, sessionId, resumed } = event.data;
      return [{ type: 'session_id', bridgeId, seq: event.seq, sessionId, resumed }];
    }
    case 'prompt_queued': {
      const { bridgeId, promptId, text } = event.data;
      return [{ type: 'follow_up_queued', bridgeId, seq: event.seq, promptId, text }];
    }
    case 'prompt_dropped': {
      const { bridgeId, promptId, reason } = event.data;
      const why = reason === 'cancelled' ? 'removed' : 'cleared';
      return [{ type: 'follow_up_removed', bridgeId, seq: event.seq, promptId, reason: why }];
    }
    case 'turn_started':
      return started(event.data, event.seq);
    case 'tool_started': {
      const { bridgeId, turnId, toolCallId, name, args } = event.data;
      return [
        {
          type: 'tool_start',
          bridgeId,
          seq: event.seq,
          turnId,
          toolCallId,
          toolName: name,
          ...parsed({ args }),
        },
      ];
    }
    case 'tool_ended': {
      const { bridgeId, turnId, toolCallId, title, args, result, isError } = event.data;
      const shown = { ...(title !== undefined && { title }), ...parsed({ args, result }), isError };
      return [{ type: 'tool_end', bridgeId, seq: event.seq, turnId, toolCallId, ...shown }];
    }
    case 'request_opened': {
      const { provider: _, sessionKey: __, options, ...request } = event.data;
      return [{ type: 'user_request', seq: event.seq, ...request, ...parsed({ options }) }];
    }
    case 'request_answered': {
      const { bridgeId, requestId, action, by } = event.data;
      return [{ type: 'user_request_resolved', bridgeId, seq: event.seq, requestId, action, by }];
    }
    case 'turn_ended':
      return [ended(event)];
    case 'turn_interrupted': {
      const { bridgeId, turnId, reason, message = `the turn was interrupted: ${reason}` } = event.data;
      return [{ type: 'error', bridgeId, seq: event.seq, code: 'turn_interrupted', message, turnId }];
    }
    case 'usage_updated': {
      const { bridgeId, turnId, usage } = event.data;
      const turn = turnId === undefined ? {} : { turnId };
      return [{ type: 'usage_update', bridgeId, seq: event.seq, ...turn, usage: measured(usage, event) }];
    }
    case 'compaction_started':
    case 'compaction_completed':
    case 'compaction_failed':
    case 'compaction_detected':
      return [compaction(event)];
    case 'handoff_completed': {
      const { bridgeId, packet, provider } = event.data;
      return [
        {
          type: 'handoff_summary',
          bridgeId,
          seq: event.seq,
          summary: packet,
          toProvider: provider,
          reason: 'handoff',
        },
      ];
    }
    case 'bridge_requested':
    case 'turn_output':
    case 'compaction_requested':
    case 'reports_accepted':
    case 'abort_requested':
    case 'stop_requested':
    case 'conversation_cleared':
    case 'conversation_imported':
    case 'conversation_aliased':
    case 'handoff_started':
    case 'handoff_failed':
    case 'session_reset':
    case 'session_imported':
    case 'transcript_saved':
    case 'transcript_removed':
    case 'migration_completed':
    case 'command_completed':
      return [];
  }
}

function outputOf(event: CommittedEvent): LiveEvent[] {
  switch (event.type) {
    case 'turn_output': {
      const { bridgeId, turnId, text, thinking } = event.data;
      if (thinking !== undefined) return [{ type: 'thinking_delta', bridgeId, turnId, delta: thinking }];
      return text === undefined ? [] : [{ type: 'text_delta', bridgeId, turnId, delta: text }];
    }
    case 'turn_ended':
    case 'turn_interrupted': {
      const { bridgeId, turnId, text } = event.data;
      const isWhole = event.type === 'turn_ended' && event.data.whole === true;
      return text === undefined || isWhole ? [] : [{ type: 'text_delta', bridgeId, turnId, delta: text }];
    }
    default:
      return [];
  }
}

function started({ bridgeId, turnId, promptId }: EventData<'turn_started'>, seq: number): LiveEvent[] {
  const start: LiveEvent = { type: 'turn_start', bridgeId, seq, turnId };
  return promptId === undefined
    ? [start]
    : [{ type: 'follow_up_removed', bridgeId, promptId, reason: 'sent' }, start];
}

function ended(event: CommittedEvent & { type: 'turn_ended' }): LiveEvent {
  const { bridgeId, turnId, text, whole, usage, stopReason } = event.data;
  return {
    type: 'turn_end',
    bridgeId,
    seq: event.seq,
    turnId,
    ...(usage !== undefined && { usage: measured(usage, event) }),
    ...(whole === true && text !== undefined && { text }),
    ...(stopReason !== undefined && { stopReason }),
  };
}

/** A stop for idleness or after a compaction is quiet; any other tells the exit status. */
function stopped({ bridgeId, reason, exitCode = null }: EventData<'bridge_stopped'>, seq: number): LiveEvent {
  return reason === 'idle' || reason === 'compacted'
    ? { type: 'idle_stopped', bridgeId, seq }
    : { type: 'closed', bridgeId, seq, code: exitCode };
}

type CompactionEvent = CommittedEvent & {
  type: 'compaction_started' | 'compaction_completed' | 'compaction_failed' | 'compaction_detected';
};

const COMPACTION_STATUS = {
  compaction_started: 'started',
  compaction_completed: 'completed',
  compaction_failed: 'failed',
  compaction_detected: 'detected',
} as const;

function compaction({ type, data, seq }: CompactionEvent): LiveEvent {
  const { sessionKey: _, source: __, ...told } = data;
  return { type: 'compaction_event', seq, status: COMPACTION_STATUS[type], ...told };
}

/** The usage with the figure of the meter as hosts were told it then. */
function measured(usage: UsageReport, { meta }: CommittedEvent): UsageReport {
  const { contextTokens: _, contextBreakdown, ...rest } = usage;
  const reported = usage.contextTokens === undefined ? {} : { contextTokens: usage.contextTokens };
  return { ...rest, ...(meta.figure ?? reported), ...parsed({ contextBreakdown }) } as UsageReport;
}

function parsed<Name extends string>(
  values: Record<Name, JsonText | undefined>,
): Partial<Record<Name, unknown>> {
  const found: Partial<Record<Name, unknown>> = {};
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) found[name] = value.parse();
  }
  return found;
}
