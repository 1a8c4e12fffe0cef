import Type from 'typebox';
import { Count, Exactly, Key, Label, OneOf, Text, UsageReport } from './schema.ts';

/** A value of any shape, as JSON brought it; it enters an event as `JsonText`. */
const AnyJson = Type.Unknown();

const usage = Type.Object(
  { ...UsageReport.properties, contextBreakdown: Type.Optional(AnyJson) },
  { additionalProperties: false },
);

/**
 * The live events: what a host of a recorded bridge reports, and what hosts are told, flat, each with
 * `type` and `bridgeId`. The fields beside these two:
 */
export const liveEventFields = {
  ready: {},
  idle_stopped: {},
  status: {
    message: Text,
    phase: Type.Optional(OneOf('starting', 'resuming', 'replaying_history', 'handoff')),
  },
  session_id: {
    sessionId: Type.String({ minLength: 1, maxLength: 65_536 }),
    resumed: Type.Optional(Type.Boolean()),
  },
  turn_start: { turnId: Key },
  turn_end: {
    turnId: Key,
    usage: Type.Optional(usage),
    /** The whole answer; without it the deltas are the answer. */
    text: Type.Optional(Text),
    stopReason: Type.Optional(Label),
  },
  text_delta: { turnId: Key, delta: Text },
  thinking_delta: { turnId: Key, delta: Text },
  tool_start: { turnId: Key, toolCallId: Key, toolName: Label, args: Type.Optional(AnyJson) },
  tool_update: {
    turnId: Key,
    toolCallId: Key,
    partial: Type.Optional(AnyJson),
    args: Type.Optional(AnyJson),
    title: Type.Optional(Label),
  },
  tool_end: {
    turnId: Key,
    toolCallId: Key,
    result: Type.Optional(AnyJson),
    isError: Type.Optional(Type.Boolean()),
    args: Type.Optional(AnyJson),
    title: Type.Optional(Label),
  },
  usage_update: { turnId: Type.Optional(Key), usage },
  follow_up_queued: { promptId: Key, text: Text },
  follow_up_removed: { promptId: Key, reason: OneOf('sent', 'removed', 'cleared') },
  user_request: {
    requestId: Key,
    turnId: Type.Optional(Key),
    kind: Label,
    title: Text,
    message: Type.Optional(Text),
    options: Type.Optional(AnyJson),
    dangerous: Type.Optional(Type.Boolean()),
  },
  user_request_resolved: { requestId: Key, action: Label, by: Type.Optional(Label) },
  compaction_event: {
    turnId: Type.Optional(Key),
    status: OneOf('started', 'completed', 'failed', 'detected'),
    automatic: Type.Optional(Type.Boolean()),
    strategy: Type.Optional(OneOf('native', 'local-summary', 'summary-reset')),
    beforeTokens: Type.Optional(Type.Number({ minimum: 0 })),
    afterTokens: Type.Optional(Type.Number({ minimum: 0 })),
    percent: Type.Optional(Type.Number()),
    resetContext: Type.Optional(Type.Boolean()),
    summary: Type.Optional(Text),
    /** Turns from this one on follow the summary. */
    keptFromTurnId: Type.Optional(Key),
    provider: Type.Optional(Label),
    message: Type.Optional(Text),
  },
  handoff_summary: {
    summary: Text,
    fromProvider: Type.Optional(Label),
    toProvider: Type.Optional(Label),
    reason: OneOf('handoff', 'compact'),
  },
  error: { code: Label, message: Text, turnId: Type.Optional(Key) },
  closed: { code: Type.Union([Type.Integer(), Type.Null()]) },
} as const;

export type LiveEventType = keyof typeof liveEventFields;

type FieldsOf<Name extends LiveEventType> = Type.Static<Type.TObject<(typeof liveEventFields)[Name]>>;

/** An event as hosts are told it. `seq` is there where the event is in the log (deltas are not, one by one). */
export type LiveEvent = {
  [Name in LiveEventType]: { type: Name; bridgeId: string; seq?: number } & FieldsOf<Name>;
}[LiveEventType];

/** What a host reports of a recorded bridge; a prompt is what its user wrote. */
export type ReportedEvent =
  | { [Name in LiveEventType]: { type: Name; bridgeId?: string } & FieldsOf<Name> }[LiveEventType]
  | { type: 'prompt'; bridgeId?: string; promptId?: string; turnId?: string; text: string };

/** The schema of each reported event, by its type. */
export const reportedEventSchemas: ReadonlyMap<string, Type.TSchema> = new Map(
  Object.entries({
    ...liveEventFields,
    prompt: { promptId: Type.Optional(Key), turnId: Type.Optional(Key), text: Text },
  }).map(([type, fields]) => [
    type,
    Exactly({ type: Type.Literal(type), bridgeId: Type.Optional(Key), seq: Type.Optional(Count), ...fields }),
  ]),
);
