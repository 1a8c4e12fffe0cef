import type { Fact } from './facts.ts';
import { type Gathering, written } from './gathering.ts';
import { advance, type BridgeSnapshot } from './machine.ts';
import { bridgeFields } from './state.ts';

/** What is decided for a bridge: facts to append, and how it is once they are. */
export interface Flushed {
  facts: Fact[];
  snapshot: BridgeSnapshot;
  gathering: Gathering | undefined;
}

/**
 * Writes what is accepted and not in the log yet: the deltas that were gathered, and, where only reports came
 * that no event holds, that they were accepted.
 * @param accepted the number of the last report that was accepted
 */
export function decideFlush(
  snapshot: BridgeSnapshot,
  gathering: Gathering | undefined,
  accepted: number,
): Flushed {
  const state = snapshot.context;
  const meta = { bridgeId: state.bridgeId, through: accepted };
  const output = gathering === undefined ? undefined : written(gathering, state);
  const facts: Fact[] = (output?.facts ?? []).map((fact) => ({ ...fact, meta }));
  if (facts.length === 0 && state.through < accepted) {
    facts.push({ type: 'reports_accepted', data: bridgeFields(state), meta });
  }
  return { facts, snapshot: facts.reduce(advance, snapshot), gathering: output?.gathering };
}
