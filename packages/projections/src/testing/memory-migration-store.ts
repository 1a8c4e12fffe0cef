import {
  assert,
  assertEventData,
  type CommittedEvent,
  isEventType,
  type JsonText,
  type Message,
  type NewEvent,
} from '@turnlog/events';
import { ProjectionError } from '../errors.ts';
import type { MigrationStore, SessionRecord } from '../migration/target.ts';

/** A log in memory with just enough of a fold to migrate into. */
export class MemoryMigrationStore implements MigrationStore {
  readonly events: CommittedEvent[] = [];
  readonly #conversations = new Map<string, readonly Message[]>();
  readonly #cleared = new Set<string>();
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #transcripts = new Map<string, readonly JsonText[]>();
  /** After this many events every append fails, as on a store that went away. */
  eventsMax = Number.POSITIVE_INFINITY;
  /** Called before an append takes its place, to let something else come between. */
  beforeAppend: (stream: string) => void = () => {};

  async append(
    stream: string,
    events: NewEvent[],
    options: { expectedRevision?: number } = {},
  ): Promise<{ seq: number }> {
    await Promise.resolve();
    this.beforeAppend(stream);
    this.appendNow(stream, events, options);
    const seq = await this.seqOf(stream, events.at(-1)?.id ?? '');
    assert(seq !== undefined, 'what is appended here has an id');
    return { seq };
  }

  appendNow(
    stream: string,
    events: NewEvent[],
    { expectedRevision }: { expectedRevision?: number } = {},
  ): void {
    const known = events.map(({ id }) =>
      this.events.find((event) => event.id === id && event.stream === stream),
    );
    if (known.every((event) => event !== undefined)) return;
    const revision = this.#revision(stream);
    if (expectedRevision !== undefined && expectedRevision !== revision) {
      throw new ProjectionError('revision_conflict', `${stream} has revision ${revision}`);
    }
    for (const { id, type, data, v = 1, meta = {} } of events) {
      if (this.events.length >= this.eventsMax)
        throw new ProjectionError('store_failed', 'the store went away');
      assert(isEventType(type), `a known type: ${type}`);
      assertEventData(type, data);
      const seq = this.events.length + 1;
      const event = {
        seq,
        id: id ?? `#${seq}`,
        stream,
        revision: this.#revision(stream) + 1,
        type,
        v,
        at: 0,
        data,
        meta,
      };
      this.events.push(event as CommittedEvent);
      this.#evolve(event as CommittedEvent);
    }
  }

  async revision(stream: string): Promise<number> {
    return this.#revision(stream);
  }

  async seqOf(stream: string, eventId: string): Promise<number | undefined> {
    return this.events.find((event) => event.stream === stream && event.id === eventId)?.seq;
  }

  async *read(from: number): AsyncGenerator<CommittedEvent> {
    yield* this.events.slice(from - 1);
  }

  async loadConversation(conversationKey: string): Promise<readonly Message[] | undefined> {
    return this.#conversations.get(conversationKey);
  }

  async isCleared(conversationKey: string): Promise<boolean> {
    return this.#cleared.has(conversationKey);
  }

  async getSession(sessionKey: string): Promise<SessionRecord> {
    return this.#sessions.get(sessionKey) ?? {};
  }

  async loadTranscript(scopeId: string): Promise<readonly JsonText[] | undefined> {
    return this.#transcripts.get(scopeId);
  }

  async flush(): Promise<void> {}

  #revision(stream: string): number {
    return this.events.filter((event) => event.stream === stream).length;
  }

  #evolve({ type, data }: CommittedEvent): void {
    switch (type) {
      case 'conversation_cleared':
        this.#cleared.add(data.conversationKey);
        this.#conversations.set(data.conversationKey, []);
        break;
      case 'conversation_imported':
        this.#conversations.set(data.conversationKey, data.messages);
        break;
      case 'session_imported': {
        const { sessionId, usage } = data;
        this.#sessions.set(data.sessionKey, {
          ...(sessionId !== undefined && { sessionId }),
          ...(usage !== undefined && { usage }),
        });
        break;
      }
      case 'session_reset':
        this.#sessions.delete(data.sessionKey);
        break;
      case 'transcript_saved':
        this.#transcripts.set(
          data.scopeId,
          data.rows.map(({ row }) => row),
        );
        break;
      case 'transcript_removed':
        this.#transcripts.delete(data.scopeId);
        break;
    }
  }
}
