import { liveEventsOf } from '@turnlog/bridge';
import {
  type OperationParameters,
  type OperationResult,
  PAGE_ROWS_DEFAULT,
  streamOf,
  upcast,
} from '@turnlog/events';
import type { Log } from '@turnlog/log';
import { conversationNotFound } from './refusals.ts';

/** One page holds about so much text, however long its events are. */
const PAGE_LENGTH_MAX = 8 * 1024 * 1024;

type Replay = OperationResult<'conversation.replay'>;

/**
 * The live events of a conversation as they can be told again from the log.
 * @throws DaemonError `conversation_not_found` where the log has nothing of it
 */
export async function replay(
  log: Log,
  { conversationKey, from = 1, limit = PAGE_ROWS_DEFAULT }: OperationParameters<'conversation.replay'>,
): Promise<Replay> {
  const stream = streamOf.conversation(conversationKey);
  if ((await log.revisionOf(stream)) === 0) throw conversationNotFound(conversationKey);
  const events: Replay['events'] = [];
  let length = 0;
  for await (const event of log.readStream(stream, { from: await log.firstRevisionFrom(stream, from) })) {
    if (events.length >= limit || length >= PAGE_LENGTH_MAX) return { events, next: event.seq };
    const known = upcast(event);
    if (known === undefined) continue;
    const { seq, at, type, data } = known;
    const live = liveEventsOf(known);
    const prompt = type === 'turn_started' && 'prompt' in data ? data.prompt : undefined;
    events.push({ seq, at, type, ...(prompt !== undefined && { prompt }), live });
    length += JSON.stringify(live).length + (prompt?.length ?? 0);
  }
  return { events };
}
