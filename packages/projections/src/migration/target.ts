import type { CommittedEvent, JsonText, Message, NewEvent, UsageSnapshot } from '@turnlog/events';

/** What is known of a session; `{}` where nothing is. */
export interface SessionRecord {
  sessionId?: string;
  usage?: UsageSnapshot;
}

/**
 * Where a migration goes: a store that this process opened, or a running daemon. The reads see everything
 * that was appended before them.
 */
export interface MigrationTarget {
  /**
   * Appends to one stream and answers once it is on disk. An event whose id is in the log already, with the
   * same body, is a no-op.
   * @throws TurnlogError `revision_conflict` where the stream has another revision than expected
   */
  append(stream: string, events: NewEvent[], options?: { expectedRevision?: number }): Promise<unknown>;
  /** How many events a stream has. */
  revision(stream: string): Promise<number>;
  /** The seq of the event of a stream that has this id, if it is in the log. */
  seqOf(stream: string, eventId: string): Promise<number | undefined>;
  /** The log from a seq on, up to its end. */
  read(from: number): AsyncIterable<CommittedEvent>;
  /** Undefined where the log says nothing of the conversation. */
  loadConversation(conversationKey: string): Promise<readonly Message[] | undefined>;
  /** Whether the conversation is on the cleared list. */
  isCleared(conversationKey: string): Promise<boolean>;
  getSession(sessionKey: string): Promise<SessionRecord>;
  /** Undefined where the log says nothing of the scope, or it was removed. */
  loadTranscript(scopeId: string): Promise<readonly JsonText[] | undefined>;
  /** Waits until the projections and their files show everything that was appended. */
  flush(): Promise<void>;
}
