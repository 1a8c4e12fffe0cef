import type { EventData, EventMeta } from '@turnlog/events';

/** The events that can change a bridge's state. Every other event of its stream passes it by. */
export type FactType =
  | 'bridge_requested'
  | 'bridge_started'
  | 'bridge_stopped'
  | 'session_bound'
  | 'prompt_queued'
  | 'prompt_dropped'
  | 'turn_started'
  | 'turn_output'
  | 'tool_started'
  | 'tool_ended'
  | 'request_opened'
  | 'request_answered'
  | 'turn_ended'
  | 'turn_interrupted'
  | 'usage_updated'
  | 'compaction_requested'
  | 'compaction_started'
  | 'compaction_completed'
  | 'compaction_failed'
  | 'compaction_detected'
  | 'reports_accepted'
  | 'abort_requested'
  | 'stop_requested';

/** A fact about a bridge: an event of the log, or one that is about to be. */
export type Fact<Type extends FactType = FactType> = {
  [Name in Type]: { type: Name; data: EventData<Name>; meta?: EventMeta; at?: number };
}[Type];

const FACT_TYPES: ReadonlySet<string> = new Set<FactType>([
  'bridge_requested',
  'bridge_started',
  'bridge_stopped',
  'session_bound',
  'prompt_queued',
  'prompt_dropped',
  'turn_started',
  'turn_output',
  'tool_started',
  'tool_ended',
  'request_opened',
  'request_answered',
  'turn_ended',
  'turn_interrupted',
  'usage_updated',
  'compaction_requested',
  'compaction_started',
  'compaction_completed',
  'compaction_failed',
  'compaction_detected',
  'reports_accepted',
  'abort_requested',
  'stop_requested',
]);

export function isFact(event: { type: string }): event is Fact {
  return FACT_TYPES.has(event.type);
}
