import Type from 'typebox';
import { Count, Exactly, Key, Label, Message, UsageSnapshot } from '../schema.ts';
import { operation, PAGE_ROWS_MAX, Page, Written } from './operation.ts';

/** A row is the host's own: stored and given back unchanged. */
const Rows = Type.Array(Type.Unknown(), { maxItems: 1_000_000 });

const Save = { scopeId: Key, messages: Rows, base: Type.Optional(Count) };

export const conversationOperations = {
  'conversation.list': operation({
    writes: false,
    parameters: {
      prefix: Type.Optional(Type.String()),
      provider: Type.Optional(Key),
      text: Type.Optional(Type.String()),
      ...Page,
    },
    result: {
      conversations: Type.Array(
        Exactly({
          conversationKey: Key,
          messages: Count,
          updatedAt: Type.Number(),
          provider: Type.Optional(Key),
        }),
      ),
      next: Type.Optional(Key),
    },
  }),
  'conversation.load': operation({
    writes: false,
    parameters: {
      conversationKey: Key,
      /** As it was at this seq, or at this time (ISO 8601). */
      at: Type.Optional(Type.Union([Count, Type.String({ maxLength: 64 })])),
    },
    result: { messages: Type.Array(Message), seq: Count },
  }),
  /** What hosts were told of a conversation, in the order of the log: to be played again. */
  'conversation.replay': operation({
    writes: false,
    parameters: {
      conversationKey: Key,
      /** The seq from which on; the conversation's first unless said. */
      from: Type.Optional(Type.Integer({ minimum: 1 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_ROWS_MAX })),
    },
    result: {
      events: Type.Array(
        Exactly({
          seq: Count,
          /** When it was committed, in milliseconds since 1970. */
          at: Type.Number(),
          /** The type of the event of the log, whose live events these are. */
          type: Type.String(),
          /** What the user wrote, where the event begins a turn. */
          prompt: Type.Optional(Type.String()),
          live: Type.Array(Type.Unknown()),
        }),
      ),
      /** Where to go on; absent at the end. */
      next: Type.Optional(Count),
    },
  }),
  'conversation.clear': operation({
    writes: true,
    parameters: { conversationKey: Key },
    result: Written,
  }),
  'conversation.alias': operation({
    writes: true,
    parameters: { from: Key, to: Key },
    result: {
      ...Written,
      aliased: Type.Boolean(),
      /** Why the target was left as it is. */
      reason: Type.Optional(Type.Enum(['exists', 'cleared', 'no_source'])),
    },
  }),
  'session.get': operation({
    writes: false,
    parameters: { sessionKey: Key },
    result: { sessionId: Type.Optional(Type.String()), usage: Type.Optional(UsageSnapshot) },
  }),
} as const;

export const transcriptOperations = {
  'transcripts.save': operation({
    writes: true,
    parameters: { ...Save },
    result: {
      ...Written,
      changed: Type.Boolean(),
      /**
       * What the client may give as `base` of its next save without loading again: its array is the whole
       * transcript up to there. Absent where others may have added rows that it has not seen.
       */
      base: Type.Optional(Count),
    },
  }),
  'transcripts.saveBatch': operation({
    writes: true,
    parameters: { entries: Type.Array(Exactly(Save), { maxItems: 10_000 }) },
    result: { ...Written, changed: Count, bases: Type.Record(Type.String(), Count) },
  }),
  'transcripts.load': operation({
    writes: false,
    parameters: { scopeId: Key },
    result: { messages: Rows, seq: Count },
  }),
  'transcripts.loadAll': operation({
    writes: false,
    parameters: Page,
    result: { transcripts: Type.Record(Type.String(), Rows), seq: Count, next: Type.Optional(Key) },
  }),
  'transcripts.remove': operation({
    writes: true,
    parameters: { scopeId: Key },
    result: Written,
  }),
  'transcripts.mtimes': operation({
    writes: false,
    parameters: {},
    result: { times: Type.Record(Type.String(), Type.Number()) },
  }),
} as const;

const ProjectionStatus = Exactly({
  name: Type.String(),
  version: Count,
  seq: Count,
  lag: Count,
  /** Files that do not show yet what the tables hold. */
  waitingFiles: Count,
  state: Type.String(),
  error: Type.Optional(Exactly({ code: Type.String(), message: Type.String() })),
});

export const daemonOperations = {
  'log.read': operation({
    writes: false,
    parameters: {
      from: Type.Integer({ minimum: 1 }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_ROWS_MAX })),
      stream: Type.Optional(Label),
      type: Type.Optional(Label),
    },
    /** `next` is where to go on reading; it is there also when nothing more is in the log yet. */
    result: { events: Type.Array(Type.Unknown()), next: Count },
  }),
  /** Looks at every record; `problems` are the first of them, `problemsTotal` counts all. */
  'log.verify': operation({
    writes: false,
    parameters: {},
    result: {
      /** Records that are whole. */
      events: Count,
      /** The head up to which was looked. */
      through: Count,
      problems: Type.Array(
        Exactly({
          seq: Count,
          through: Count,
          problem: Type.Enum(['missing', 'damaged', 'not_indexed']),
          message: Type.String(),
        }),
      ),
      problemsTotal: Count,
    },
  }),
  'projections.status': operation({
    writes: false,
    parameters: {},
    result: { projections: Type.Array(ProjectionStatus) },
  }),
  'projections.flush': operation({ writes: false, parameters: {}, result: Written }),
  'projections.rebuild': operation({
    writes: false,
    parameters: { only: Type.Optional(Type.Array(Label)), check: Type.Optional(Type.Boolean()) },
    result: {
      projections: Type.Array(
        Exactly({
          name: Type.String(),
          seq: Count,
          rows: Count,
          files: Type.Optional(Count),
          equal: Type.Optional(Type.Boolean()),
          differences: Type.Optional(Type.Array(Type.String())),
        }),
      ),
    },
  }),
  'daemon.status': operation({
    writes: false,
    parameters: {},
    result: {
      version: Type.String(),
      mode: Type.String(),
      data: Type.String(),
      pid: Count,
      seq: Count,
      state: Type.String(),
      projections: Type.Array(ProjectionStatus),
      bridges: Count,
      subscribers: Count,
      /** What takes long and is under way, counted in events of the log. */
      work: Type.Array(
        Exactly({ operation: Type.String(), done: Count, total: Count, since: Type.Number() }),
      ),
      since: Type.Number(),
    },
  }),
} as const;
