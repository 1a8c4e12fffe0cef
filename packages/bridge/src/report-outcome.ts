import type { MeterState, ReportedEvent } from '@turnlog/events';
import type { EmittedEvent } from './draft.ts';
import type { Fact } from './facts.ts';
import type { Gathering } from './gathering.ts';
import type { BridgeSnapshot } from './machine.ts';

/** What deciding on reports reads; plain values, no input or output. */
export interface ReportInput {
  snapshot: BridgeSnapshot;
  gathering: Gathering | undefined;
  /** The session's meter, where the bridge has a session. */
  meter: MeterState | undefined;
  reports: readonly ReportedEvent[];
  /** The number of the first report. */
  first: number;
  /** The ends of the turns that the conversation's other bridges have open; asked for as a turn begins. */
  endsOfOthers: () => readonly Fact[];
  /** Makes an id for a prompt whose host gave it none. */
  newPromptId: () => string;
}

export interface ReportOutcome {
  /** What is to be appended, all of it at once; also what happens to others. */
  facts: Fact[];
  /** The machine once it is. */
  snapshot: BridgeSnapshot;
  gathering: Gathering | undefined;
  /** The reports as hosts are told them. */
  emitted: EmittedEvent[];
  /** A turn began, which ends those of the conversation's other bridges. */
  startsTurn: boolean;
}
