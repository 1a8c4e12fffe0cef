import Type from 'typebox';
import { Count, Exactly, Key, Label, Message, OneOf, Opaque, Text, UsageSnapshot } from '../schema.ts';

export const conversationEvents = {
  conversation_cleared: Exactly({
    conversationKey: Key,
    reason: OneOf('requested', 'migrated'),
    /** What the cleared list held in its place, where only the beginning of an entry was left of it. */
    torn: Type.Optional(Text),
  }),
  conversation_imported: Exactly({
    conversationKey: Key,
    source: Label,
    messages: Type.Array(Message),
    /** Rows that are no message (another role, no text), kept as they came: `place` counts all rows. */
    setAside: Type.Optional(Type.Array(Exactly({ place: Count, row: Opaque }))),
  }),
  conversation_aliased: Exactly({ from: Key, to: Key }),
  handoff_started: Exactly({ from: Key, to: Key, bridgeId: Key, provider: Key }),
  handoff_completed: Exactly({
    from: Key,
    to: Key,
    bridgeId: Key,
    provider: Key,
    sessionKey: Type.Optional(Key),
    packet: Text,
  }),
  handoff_failed: Exactly({ from: Key, to: Key, bridgeId: Key, provider: Key, reason: Label }),
} as const;

export const sessionEvents = {
  /** Takes the resume id and the usage snapshot, and with a conversation key the shard. */
  session_reset: Exactly({ sessionKey: Key, conversationKey: Type.Optional(Key), reason: Label }),
  session_imported: Exactly({
    sessionKey: Key,
    sessionId: Type.Optional(Text),
    usage: Type.Optional(UsageSnapshot),
    source: Label,
  }),
} as const;

/** The number that a transcript gives a row when it first comes; never used again in that scope. */
const RowId = Type.Integer({ minimum: 1 });

export const transcriptEvents = {
  transcript_saved: Exactly({
    scopeId: Key,
    /**
     * Rows that are new, changed or moved. A new row says which row it comes after (0: first of all), and so
     * does one that moved; one that only changed stays where it is.
     */
    rows: Type.Array(Exactly({ rowId: RowId, after: Type.Optional(Count), row: Opaque })),
    removed: Type.Array(RowId),
    /** The seq that the client had loaded. */
    base: Type.Optional(Count),
  }),
  transcript_removed: Exactly({ scopeId: Key }),
} as const;

export const commandEvents = {
  /**
   * A command that its caller named was carried out: all that it did is in the log with this event. What it
   * was is told by the digest, what it was answered by `answer`, which holds no seq and nothing secret.
   */
  command_completed: Exactly({
    commandId: Key,
    operation: Label,
    /** SHA-256 of the parameters, in hex. */
    digest: Label,
    answer: Opaque,
  }),
} as const;

export const migrationEvents = {
  /** Everything readable of the source is in the log, and was read back equal. */
  migration_completed: Exactly({
    source: Label,
    /** Of what was brought in, to recognize the same source again. */
    fingerprint: Label,
    counts: Type.Record(Label, Count),
  }),
} as const;
