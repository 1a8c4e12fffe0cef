import Type from 'typebox';
import { Count, Exactly, Key, Label, OneOf, Opaque, Text, UsageReport } from '../schema.ts';

/** What every fact about a bridge carries: enough to fold it without looking anything else up. */
const ofBridge = {
  bridgeId: Key,
  /** The session that the bridge speaks for; absent where it has neither session nor conversation. */
  sessionKey: Type.Optional(Key),
  provider: Key,
};

const ofTurn = { ...ofBridge, turnId: Key };

export const bridgeEvents = {
  /** A host asked for a bridge, or recorded one that it owns itself. Never an environment or a key. */
  bridge_requested: Exactly({
    ...ofBridge,
    mode: OneOf('recorded', 'driven'),
    conversationKey: Type.Optional(Key),
    model: Type.Optional(Label),
    cwd: Type.Optional(Label),
  }),
  /** How it began; absent for a recorded bridge, whose host does not say. */
  bridge_started: Exactly({
    ...ofBridge,
    how: Type.Optional(OneOf('fresh', 'native_resume', 'replay', 'handoff', 'stateless')),
  }),
  bridge_stopped: Exactly({
    ...ofBridge,
    reason: OneOf('requested', 'idle', 'compacted', 'exited', 'failed', 'restart', 'replaced'),
    exitCode: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    message: Type.Optional(Text),
  }),
  /** A provider reported its own id for the session. */
  session_bound: Exactly({
    ...ofBridge,
    sessionId: Text,
    resumed: Type.Boolean(),
    turnId: Type.Optional(Key),
  }),
  prompt_queued: Exactly({
    bridgeId: Key,
    promptId: Key,
    text: Text,
    /** Its place in the conversation's queue, 0 being the next to be sent. */
    place: Count,
    turnId: Type.Optional(Key),
  }),
  prompt_dropped: Exactly({
    bridgeId: Key,
    promptId: Key,
    reason: OneOf('cancelled', 'aborted', 'bridge_stopped'),
  }),
  turn_started: Exactly({
    ...ofTurn,
    promptId: Type.Optional(Key),
    /** What the user wrote, without any preamble; absent where the provider began the turn by itself. */
    prompt: Type.Optional(Text),
    purpose: OneOf('prompt', 'summary'),
    injected: OneOf('none', 'history', 'handoff'),
  }),
  /** Text or thinking gathered over a short window; one of the two, so that their order is kept. */
  turn_output: Exactly({ ...ofTurn, text: Type.Optional(Text), thinking: Type.Optional(Text) }),
  tool_started: Exactly({ ...ofTurn, toolCallId: Key, name: Label, args: Type.Optional(Opaque) }),
  tool_ended: Exactly({
    ...ofTurn,
    toolCallId: Key,
    name: Type.Optional(Label),
    title: Type.Optional(Label),
    args: Type.Optional(Opaque),
    result: Type.Optional(Opaque),
    isError: Type.Boolean(),
  }),
  request_opened: Exactly({
    ...ofBridge,
    requestId: Key,
    turnId: Type.Optional(Key),
    kind: Label,
    title: Text,
    message: Type.Optional(Text),
    options: Type.Optional(Opaque),
    dangerous: Type.Optional(Type.Boolean()),
  }),
  request_answered: Exactly({
    ...ofBridge,
    requestId: Key,
    action: Label,
    by: Label,
    optionId: Type.Optional(Label),
    value: Type.Optional(Opaque),
  }),
  turn_ended: Exactly({
    ...ofTurn,
    /** What no `turn_output` of the turn holds; the whole answer where `whole` is set. */
    text: Type.Optional(Text),
    /** The answer was reported anew and replaces what was gathered. */
    whole: Type.Optional(Type.Boolean()),
    usage: Type.Optional(UsageReport),
    stopReason: Type.Optional(Label),
  }),
  /** The turn's end was not observed, so it is never taken for a success. */
  turn_interrupted: Exactly({
    ...ofTurn,
    reason: OneOf('aborted', 'bridge_stopped', 'exited', 'failed', 'replaced', 'restart', 'provider_error'),
    message: Type.Optional(Text),
    /** The partial text that no `turn_output` holds. */
    text: Type.Optional(Text),
  }),
  usage_updated: Exactly({ ...ofBridge, turnId: Type.Optional(Key), usage: UsageReport }),
  /**
   * Reports up to `meta.through` were accepted, and the last of them are in no other event: they are shown
   * and kept nowhere. Without it they would be missing after a restart.
   */
  reports_accepted: Exactly(ofBridge),
  abort_requested: Exactly({ bridgeId: Key }),
  stop_requested: Exactly({ bridgeId: Key }),
} as const;

/** How a context was made smaller. */
const Strategy = OneOf('native', 'local-summary', 'summary-reset');

const ofCompaction = {
  ...ofBridge,
  turnId: Type.Optional(Key),
  strategy: Type.Optional(Strategy),
  automatic: Type.Boolean(),
  /** Who says so: the provider, somebody's request, or the meter. */
  source: OneOf('native', 'requested', 'inferred'),
  beforeTokens: Type.Optional(Type.Number()),
  afterTokens: Type.Optional(Type.Number()),
  percent: Type.Optional(Type.Number()),
  message: Type.Optional(Text),
};

export const compactionEvents = {
  compaction_requested: Exactly(ofCompaction),
  compaction_started: Exactly(ofCompaction),
  /** Alone does all that its strategy says; see the projections of conversations and sessions. */
  compaction_completed: Exactly({
    ...ofCompaction,
    summary: Type.Optional(Text),
    /** Turns from this one on follow the summary in the shard. */
    keptFromTurnId: Type.Optional(Key),
    /** Clears the meter and the snapshot, and nothing else. */
    resetContext: Type.Optional(Type.Boolean()),
  }),
  compaction_failed: Exactly(ofCompaction),
  compaction_detected: Exactly(ofCompaction),
} as const;
