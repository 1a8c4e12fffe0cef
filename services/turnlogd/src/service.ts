import type { Fact } from '@turnlog/bridge';
import {
  assertEventData,
  type Envelope,
  type EventData,
  type EventType,
  type NewEvent,
  versionOf,
} from '@turnlog/events';
import type { Log } from '@turnlog/log';
import type { Projections } from '@turnlog/projections';
import type { Tokens } from './access/tokens.ts';
import type { RecordedBridges } from './bridges/recorded-bridges.ts';
import { appendFor, type Commands, type Completion } from './commands/commands.ts';
import type { KeyedLock } from './keyed-lock.ts';
import type { WorkInProgress } from './work-in-progress.ts';

/** What the operations work on. */
export interface Service {
  log: Log;
  projections: Projections;
  bridges: RecordedBridges;
  /** One decision at a time for each stream: what was read is still so when the event is appended. */
  streams: KeyedLock;
  work: WorkInProgress;
  commands: Commands;
  tokens: Tokens;
  describe(): { version: string; mode: string; data: string; since: number; subscribers: number };
}

/** An event of a known type, its data checked against the catalogue. */
export function newEvent<Type extends EventType>(type: Type, data: EventData<Type>): NewEvent {
  assertEventData(type, data);
  return { type, v: versionOf(type), data } as NewEvent;
}

/**
 * Appends facts about bridges, all or none; also here nothing enters that the catalogue does not know.
 * @param completion where they are of a command that its caller named; its event is the last of the answer
 */
export async function appendFacts(
  log: Log,
  stream: string,
  facts: readonly Fact[],
  completion?: Completion,
): Promise<readonly Envelope[]> {
  for (const fact of facts) assertEventData(fact.type, fact.data);
  const { events } = await appendFor(
    log,
    stream,
    facts.map(({ type, data, meta }) => ({
      type,
      v: versionOf(type),
      data,
      ...(meta !== undefined && { meta }),
    })),
    completion,
  );
  return events;
}
