import Type from 'typebox';
import { Count, Exactly, Key, Label, Message, Text, UsageSnapshot } from '../schema.ts';
import { operation, Written } from './operation.ts';

/** The most items in one `migration.import` or `migration.readBack`. */
export const MIGRATION_ITEMS_MAX = 1_000;

const Outcomes = Exactly({ broughtIn: Count, alreadyThere: Count, kept: Count, failed: Count });
const Note = Exactly({ kind: Type.String(), key: Type.String(), reason: Type.String() });

/** The id that the item's content makes, so that a change on the way is found out. */
const Id = Type.String({ pattern: '^migrate:[0-9a-f]{64}$' });

/** What there is to bring in, as it was read from its source. */
const Item = Type.Union([
  Exactly({
    kind: Type.Literal('cleared'),
    id: Id,
    key: Key,
    /** The beginning of the entry that covers the key, where no more was left of it. */
    torn: Type.Optional(Text),
  }),
  Exactly({
    kind: Type.Literal('conversation'),
    id: Id,
    key: Key,
    messages: Type.Array(Message),
    /** Rows that are no message: `place` counts all rows. */
    setAside: Type.Optional(Type.Array(Exactly({ place: Count, row: Type.Unknown() }))),
  }),
  Exactly({
    kind: Type.Literal('session'),
    id: Id,
    key: Key,
    sessionId: Type.Optional(Text),
    usage: Type.Optional(UsageSnapshot),
  }),
  Exactly({
    kind: Type.Literal('transcript'),
    id: Id,
    key: Key,
    rows: Type.Array(Type.Unknown(), { maxItems: 1_000_000 }),
  }),
]);
export type WireMigrationItem = Type.Static<typeof Item>;

const Placed = Exactly({
  outcome: Type.Enum(['broughtIn', 'alreadyThere', 'kept', 'failed']),
  reason: Type.Optional(Type.String()),
  /** Where it is in the log, if it is there by its id. */
  seq: Type.Optional(Count),
});

const Subject = Exactly({ kind: Type.Enum(['cleared', 'conversation', 'session', 'transcript']), key: Key });

export const migrationOperations = {
  /** Brings in a CrewCode user-data directory of the daemon's machine: what is missing, and only that. */
  'migration.run': operation({
    writes: true,
    parameters: {
      directory: Type.String({ minLength: 1, maxLength: 4_096 }),
      dryRun: Type.Optional(Type.Boolean()),
    },
    result: {
      source: Type.String(),
      fingerprint: Type.String(),
      dryRun: Type.Boolean(),
      completed: Type.Enum(['now', 'before', 'no']),
      incomplete: Type.Array(Type.String()),
      found: Type.Record(Type.String(), Count),
      outcomes: Exactly({
        cleared: Outcomes,
        conversation: Outcomes,
        session: Outcomes,
        transcript: Outcomes,
      }),
      kept: Type.Array(Note),
      failed: Type.Array(Note),
      problems: Type.Array(Exactly({ file: Type.String(), reason: Type.String() })),
      setAside: Exactly({
        conversations: Type.Array(Exactly({ conversationKey: Type.String(), reason: Type.String() })),
        rows: Type.Array(Exactly({ conversationKey: Type.String(), count: Count })),
      }),
      fromMonolith: Type.Array(Type.String()),
      cleared: Type.Array(Exactly({ conversationKey: Type.String(), torn: Type.Optional(Type.String()) })),
      exitCode: Type.Enum([0, 2]),
    },
  }),
  /**
   * Brings in items that the caller has read from another machine's files: each where nothing is in its
   * place, and nothing else. What was cleared is sent before everything else.
   */
  'migration.import': operation({
    writes: true,
    parameters: {
      items: Type.Array(Item, { maxItems: MIGRATION_ITEMS_MAX }),
      dryRun: Type.Optional(Type.Boolean()),
    },
    /** One for each item, in their order. */
    result: { ...Written, placed: Type.Array(Placed) },
  }),
  /** What is there now: the digest of each subject's content, null where nothing is. */
  'migration.readBack': operation({
    writes: false,
    parameters: { subjects: Type.Array(Subject, { maxItems: MIGRATION_ITEMS_MAX }) },
    result: { digests: Type.Array(Type.Union([Type.String(), Type.Null()])), seq: Count },
  }),
  /** Says that everything of a source is in, once it was read back equal. */
  'migration.complete': operation({
    writes: true,
    // The fingerprint becomes part of an event's id.
    parameters: {
      source: Label,
      fingerprint: Type.String({ pattern: '^[!-~]{1,128}$' }),
      counts: Type.Record(Label, Count),
    },
    result: Written,
  }),
} as const;
