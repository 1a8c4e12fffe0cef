import type { EventData, EventType } from './catalogue/index.ts';

/** Facts about how an event came to be, which no fold of the conversation needs. */
export interface EventMeta {
  /** The bridge whose report this is. */
  bridgeId?: string;
  /** The number of the last reported event that this event holds (recorded bridges). */
  through?: number;
  /** What hosts were told of a report of usage in place of what it said; empty where the meter is unknown. */
  figure?: { contextTokens?: number; contextWindow?: number };
  /** The command that caused it. */
  commandId?: string;
}

/** An event before it has a place in the log. */
export interface NewEvent<
  Type extends string = EventType,
  Data = Type extends EventType ? EventData<Type> : unknown,
> {
  /** Supplied by the caller to make the append idempotent; must not begin with `#`. */
  id?: string;
  type: Type;
  /** The version of the type's data; 1 unless said. */
  v?: number;
  data: Data;
  meta?: EventMeta;
}

/** One record of the log. */
export interface Envelope<Type extends string = string, Data = unknown> {
  /** Place in the log: 1, 2, 3 …, no gaps. */
  seq: number;
  /** The id its caller gave, else `#<seq>`. */
  id: string;
  stream: string;
  /** Its count in the stream: 1, 2, 3 … */
  revision: number;
  type: Type;
  v: number;
  /** When it was appended, in milliseconds since 1970. Shown to people; no decision looks at it. */
  at: number;
  data: Data;
  meta: EventMeta;
}

/** A committed event of a known type, its data narrowed by `type`. */
export type CommittedEvent = { [Type in EventType]: Envelope<Type, EventData<Type>> }[EventType];
