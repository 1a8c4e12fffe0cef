import { assertEventData, type CommittedEvent, type EventData, type EventType } from '@turnlog/events';
import { MemoryTables } from '../engine/memory-tables.ts';
import type { Projection } from '../engine/projection.ts';

/** When the event of seq 0 would have come; each later one comes a second after the one before. */
export const START_AT = Date.UTC(2026, 0, 1);

/** A log in memory and one projection that follows it, for the tests of folds. */
export class FoldBench {
  readonly tables = new MemoryTables();
  readonly events: CommittedEvent[] = [];

  constructor(readonly projection: Projection) {}

  /** Appends an event and folds it; its data must be as the catalogue says. */
  async take<Type extends EventType>(
    stream: string,
    type: Type,
    data: EventData<Type>,
  ): Promise<CommittedEvent> {
    assertEventData(type, data);
    const seq = this.events.length + 1;
    const revision = this.events.filter((event) => event.stream === stream).length + 1;
    const at = START_AT + seq * 1_000;
    const event = { seq, id: `#${seq}`, stream, revision, type, v: 1, at, data, meta: {} } as CommittedEvent;
    this.events.push(event);
    await this.projection.evolve(this.tables, event);
    return event;
  }

  /** The tables of a second fold of everything that came so far. */
  async rebuilt(): Promise<MemoryTables> {
    const tables = new MemoryTables();
    for (const event of this.events) await this.projection.evolve(tables, event);
    return tables;
  }

  /** The content of every file that is marked as dirty, by its path; undefined where there must be none. */
  async files(): Promise<Record<string, string | undefined>> {
    const { fileOf, render } = this.projection;
    const files: Record<string, string | undefined> = {};
    for (const ref of this.tables.takeDirty()) {
      if (fileOf !== undefined && render !== undefined) files[fileOf(ref)] = await render(this.tables, ref);
    }
    return files;
  }
}
