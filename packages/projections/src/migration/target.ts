import type { CommittedEvent, JsonText, Message, NewEvent, UsageSnapshot } from '@turnlog/events';
import type { MigrationItem, MigrationKind } from './items.ts';
import type { ItemOutcome } from './report.ts';

/** What an item is about. */
export interface MigrationSubject {
  kind: MigrationKind;
  /** The conversation key, session key or scope. */
  key: string;
}

/** What became of an item that was to be brought in. */
export interface Placement {
  outcome: ItemOutcome;
  reason?: string;
  /** Where it is in the log, if it is there by its id. */
  seq?: number;
}

/** An event of the log, as far as a migration looks at it. */
export type SeenEvent = Pick<CommittedEvent, 'seq' | 'stream' | 'data'>;

export interface MigrationCompletion {
  source: string;
  fingerprint: string;
  counts: Record<string, number>;
}

/**
 * Where a migration goes: a store that this process opened, or a daemon that runs elsewhere. What is read
 * sees everything that was brought in before.
 */
export interface MigrationTarget {
  /** Whether the log says that everything of this fingerprint is in it. */
  isCompleted(source: string, fingerprint: string): Promise<boolean>;
  /**
   * Brings in what is missing, and only that; the same items again are a no-op.
   * @returns one for each item, in their order
   */
  place(items: readonly MigrationItem[], options: { dryRun: boolean }): Promise<Placement[]>;
  /** The digest of what is there for each subject, by `contentDigest`; undefined where nothing is. */
  digests(subjects: readonly MigrationSubject[]): Promise<(string | undefined)[]>;
  /** The log from a seq on, up to its end. */
  read(from: number): AsyncIterable<SeenEvent>;
  /** Says in the log that everything is in it; saying it again is a no-op. */
  complete(completion: MigrationCompletion): Promise<void>;
  /** Waits until the projections and their files show everything that was brought in. */
  flush(): Promise<void>;
}

/** What is known of a session; `{}` where nothing is. */
export interface SessionRecord {
  sessionId?: string;
  usage?: UsageSnapshot;
}

/** A store that this process opened. The reads see everything that was appended before them. */
export interface MigrationStore {
  /**
   * Appends to one stream and answers once it is on disk. An event whose id is in the log already, with the
   * same body, is a no-op.
   * @throws TurnlogError `revision_conflict` where the stream has another revision than expected
   */
  append(
    stream: string,
    events: NewEvent[],
    options?: { expectedRevision?: number },
  ): Promise<{ seq: number }>;
  /** How many events a stream has. */
  revision(stream: string): Promise<number>;
  /** The seq of the event of a stream that has this id, if it is in the log. */
  seqOf(stream: string, eventId: string): Promise<number | undefined>;
  read(from: number): AsyncIterable<CommittedEvent>;
  /** Undefined where the log says nothing of the conversation. */
  loadConversation(conversationKey: string): Promise<readonly Message[] | undefined>;
  /** Whether the conversation is on the cleared list. */
  isCleared(conversationKey: string): Promise<boolean>;
  getSession(sessionKey: string): Promise<SessionRecord>;
  /** Undefined where the log says nothing of the scope, or it was removed. */
  loadTranscript(scopeId: string): Promise<readonly JsonText[] | undefined>;
  flush(): Promise<void>;
}
