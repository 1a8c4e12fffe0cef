import type { Fact } from './facts.ts';
import { type BridgeState, bridgeFields } from './state.ts';

/** How long a delta may wait for others before it is written. */
export const GATHER_WINDOW_MS = 500;
/** How much is gathered before it is written at once, in bytes of UTF-8. */
export const GATHER_BYTES_MAX = 8_192;
/** A longer answer is not kept in memory to be compared with the text of the turn's end. */
const LOGGED_TEXT_LENGTH_MAX = 1_048_576;

/**
 * Deltas of the open turn that are accepted and not yet in the log, of one channel, and what the log
 * holds of the answer already. Lives in memory only: after a crash the host sends again what was not
 * durable, and an unknown logged text is answered by writing the whole.
 */
export interface Gathering {
  turnId: string;
  channel: 'text' | 'thinking';
  pending: string;
  /** The number of the last delta in it. */
  through: number;
  /** The answer as far as the log holds it; undefined where that is not known. */
  logged: string | undefined;
}

/** @param logged '' for a turn that begins now, undefined for one that was open before the daemon was */
export function emptyGathering(turnId: string, logged: string | undefined): Gathering {
  return { turnId, channel: 'text', pending: '', through: 0, logged };
}

/** The gathering after a delta, and the fact that had to be written first, where the channel changed. */
export function gather(
  gathering: Gathering,
  state: BridgeState,
  channel: Gathering['channel'],
  delta: string,
  through: number,
): { gathering: Gathering; facts: Fact[] } {
  const { gathering: ready, facts } =
    channel === gathering.channel ? { gathering, facts: [] } : written(gathering, state);
  const grown = { ...ready, channel, pending: ready.pending + delta, through };
  if (Buffer.byteLength(grown.pending) < GATHER_BYTES_MAX) return { gathering: grown, facts };
  const full = written(grown, state);
  return { gathering: full.gathering, facts: [...facts, ...full.facts] };
}

/** Writes what is pending; no fact where nothing is. */
export function written(
  gathering: Gathering,
  state: BridgeState,
): { gathering: Gathering; facts: Fact<'turn_output'>[] } {
  const { turnId, channel, pending, through, logged } = gathering;
  if (pending === '') return { gathering, facts: [] };
  const fact: Fact<'turn_output'> = {
    type: 'turn_output',
    data: { ...bridgeFields(state), turnId, [channel]: pending },
    meta: { bridgeId: state.bridgeId, through },
  };
  const longer = channel === 'text' && logged !== undefined ? logged + pending : logged;
  const kept = longer !== undefined && longer.length <= LOGGED_TEXT_LENGTH_MAX ? longer : undefined;
  return { gathering: { ...gathering, pending: '', logged: kept }, facts: [fact] };
}

/** The end of the answer, as `turn_ended` holds it. */
export interface Closing {
  text?: string;
  whole?: boolean;
  /** Thinking that is still to be written before it. */
  thinking: string;
  /** The end of `text` that no delta told. */
  untold: string;
}

/** @param text the whole answer, where the host reported it at the end */
export function closing(gathering: Gathering, text: string | undefined): Closing {
  const { channel, pending, logged } = gathering;
  const thinking = channel === 'thinking' ? pending : '';
  const gathered = channel === 'text' ? pending : '';
  if (text === undefined)
    return gathered === '' ? { thinking, untold: '' } : { text: gathered, thinking, untold: '' };
  const told = logged === undefined ? undefined : logged + gathered;
  if (logged === undefined || told === undefined || told === '' || !text.startsWith(told)) {
    return { text, whole: true, thinking, untold: '' };
  }
  const rest = text.slice(logged.length);
  return { ...(rest !== '' && { text: rest }), thinking, untold: text.slice(told.length) };
}
