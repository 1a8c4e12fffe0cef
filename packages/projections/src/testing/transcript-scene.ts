import { assertEventData, type CommittedEvent, type EventData, streamOf } from '@turnlog/events';
import { MemoryTables } from '../engine/memory-tables.ts';
import { decideSave, loadSaveState, loadTranscript, readRows, transcripts } from '../transcripts/index.ts';

type TranscriptEvent = Extract<CommittedEvent, { type: `transcript_${string}` }>;

/** One scope's transcript with its log in memory: every save is decided, logged and folded. */
export class TranscriptScene {
  readonly tables = new MemoryTables();
  readonly log: TranscriptEvent[] = [];

  constructor(readonly scopeId = 'thread:one') {}

  /** The seq of the last event: what a client that loads now gives as its base. */
  get seq(): number {
    return this.log.length;
  }

  /** @returns what was logged, if anything was */
  async save(
    messages: readonly unknown[],
    base?: number,
  ): Promise<EventData<'transcript_saved'> | undefined> {
    const rows = readRows(messages);
    const state = await loadSaveState(this.tables, this.scopeId, rows);
    const data = decideSave(state, { rows, ...(base !== undefined && { base }) });
    if (data === undefined) return undefined;
    assertEventData('transcript_saved', data);
    await this.append({ type: 'transcript_saved', data });
    return data;
  }

  async remove(): Promise<void> {
    await this.append({ type: 'transcript_removed', data: { scopeId: this.scopeId } });
  }

  async append(event: Pick<TranscriptEvent, 'type' | 'data'>): Promise<void> {
    const seq = this.log.length + 1;
    const committed = {
      ...event,
      seq,
      id: `#${seq}`,
      stream: streamOf.transcript(this.scopeId),
      revision: seq,
      v: 1,
      at: 1_770_000_000_000 + seq,
      meta: {},
    } as TranscriptEvent;
    this.log.push(committed);
    await transcripts.evolve(this.tables, committed);
  }

  /** The rows as values; undefined where there is no transcript. */
  async load(): Promise<unknown[] | undefined> {
    const transcript = await loadTranscript(this.tables, this.scopeId);
    return transcript?.messages.map((message) => message.parse());
  }

  /** Tables folded anew from the log. */
  async refold(): Promise<MemoryTables> {
    const tables = new MemoryTables();
    for (const event of this.log) await transcripts.evolve(tables, event);
    return tables;
  }
}
