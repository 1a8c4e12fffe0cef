import { type CommittedEvent, type OperationResult, streamOf, upcast } from '@turnlog/events';
import type { Log } from '@turnlog/log';
import { conversationAt } from '@turnlog/projections';
import { DaemonError } from '../errors.ts';
import { conversationNotFound } from './refusals.ts';

/**
 * A conversation as it was at a seq, or at a time, folded anew from its stream.
 * @param at a seq; or a time as ISO 8601, which stands for the last event of the conversation until then
 */
export async function conversationThen(
  log: Log,
  conversationKey: string,
  at: number | string,
): Promise<OperationResult<'conversation.load'>> {
  const seq = typeof at === 'number' ? Math.min(at, log.head()) : await seqAtTime(log, conversationKey, at);
  const then = await conversationAt(
    (stream, throughSeq) => eventsOf(log, stream, throughSeq),
    conversationKey,
    seq,
  );
  if (then === undefined) throw conversationNotFound(conversationKey);
  return { messages: then.messages, seq };
}

async function* eventsOf(log: Log, stream: string, throughSeq: number): AsyncGenerator<CommittedEvent> {
  for await (const event of log.readStream(stream)) {
    if (event.seq > throughSeq) return;
    const known = upcast(event);
    if (known !== undefined) yield known;
  }
}

async function seqAtTime(log: Log, conversationKey: string, time: string): Promise<number> {
  const timeMs = Date.parse(time);
  if (Number.isNaN(timeMs)) {
    throw new DaemonError('invalid_argument', 'at must be a seq or a time such as 2026-01-31T09:05:00Z', {
      field: 'at',
    });
  }
  let seq = 0;
  for await (const event of log.readStream(streamOf.conversation(conversationKey))) {
    if (event.at > timeMs) break;
    seq = event.seq;
  }
  return seq;
}
