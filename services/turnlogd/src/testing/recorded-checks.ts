import { type Message, TurnlogError } from '@turnlog/events';
import * as assert from 'uvu/assert';
import type { Daemon } from '../daemon.ts';
import { CONVERSATION_KEYS, PLACES } from './recorded-commands.ts';
import { type RecordedModel, sessionKeyAt } from './recorded-model.ts';

/** What conversations showed when the log ended at a seq. */
export interface Snapshot {
  seq: number;
  shown: ReadonlyMap<string, Message[] | undefined>;
}

/** How many of the earlier moments are looked at again. */
const SNAPSHOTS_CHECKED = 6;

/** The daemon shows what the model shows; answers the conversations. */
export async function assertShows(daemon: Daemon, model: RecordedModel): Promise<Snapshot['shown']> {
  const shown = new Map<string, Message[] | undefined>();
  for (const conversationKey of CONVERSATION_KEYS) {
    shown.set(conversationKey, model.shown(conversationKey));
    assert.equal(await load(daemon, conversationKey), model.shown(conversationKey), conversationKey);
  }
  for (const place of PLACES) {
    const sessionKey = sessionKeyAt(place);
    const found = await daemon.dispatcher.call('session.get', { sessionKey });
    assert.equal(found, model.session(sessionKey), sessionKey);
  }
  const { bridges } = await daemon.dispatcher.call('bridge.list', {});
  for (const place of PLACES) {
    const open = bridges.find(({ bridgeId }) => bridgeId === place.bridgeId);
    assert.is(open !== undefined, model.isOpen(place), `${place.bridgeId} is open`);
    assert.is(open?.turnId, model.openTurnOf(place), `the turn of ${place.bridgeId}`);
  }
  return shown;
}

/** Conversations are found as they were at some earlier moments. */
export async function assertShowsThen(daemon: Daemon, snapshots: readonly Snapshot[]): Promise<void> {
  const every = Math.ceil(snapshots.length / SNAPSHOTS_CHECKED);
  for (const [index, { seq, shown }] of snapshots.entries()) {
    if (index % every !== 0 || seq === 0) continue;
    for (const [conversationKey, messages] of shown) {
      assert.equal(await load(daemon, conversationKey, seq), messages, `${conversationKey} at ${seq}`);
    }
  }
}

async function load(daemon: Daemon, conversationKey: string, at?: number): Promise<Message[] | undefined> {
  const moment = at === undefined ? {} : { at };
  try {
    return (await daemon.dispatcher.call('conversation.load', { conversationKey, ...moment })).messages;
  } catch (error) {
    if (error instanceof TurnlogError && error.code === 'conversation_not_found') return undefined;
    throw error;
  }
}
