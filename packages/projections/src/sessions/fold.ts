import {
  type CommittedEvent,
  compactMeter,
  conversationKeyOf,
  initialMeter,
  reportUsage,
  startTurn,
  type UsageReport,
} from '@turnlog/events';
import type { Projection, TableWriter } from '../engine/projection.ts';
import { endSession, endSessionsOf, linkSession } from './endings.ts';
import { fileOf, render } from './render.ts';
import { newSession, putSession, type SessionRow, sessionOf } from './tables.ts';
import { isStale, markEnd, markStart } from './turn-marks.ts';

/** The resume id and the usage of each session, from which `agent-sessions.json` is written. */
export const sessions: Projection = { name: 'sessions', version: 1, evolve, fileOf, render };

type Event<Type extends CommittedEvent['type']> = Extract<CommittedEvent, { type: Type }>;

async function evolve(tables: TableWriter, event: CommittedEvent): Promise<void> {
  switch (event.type) {
    case 'session_imported':
      return importSession(tables, event);
    case 'session_reset':
      return endSession(tables, event.data.sessionKey, event.seq);
    case 'conversation_cleared':
      // That it had been cleared elsewhere says nothing of the sessions that came from there with it.
      if (event.data.reason === 'migrated') return;
      return endSessionsOf(tables, event.data.conversationKey, event.seq);
    case 'handoff_completed':
      if (event.data.sessionKey !== undefined) await endSession(tables, event.data.sessionKey, event.seq);
      return;
    case 'bridge_requested':
    case 'session_bound':
    case 'turn_started':
    case 'turn_ended':
    case 'usage_updated':
    case 'compaction_completed':
    case 'compaction_detected': {
      const { sessionKey } = event.data;
      return sessionKey === undefined ? undefined : evolveOne(tables, sessionKey, event);
    }
  }
}

type SessionEvent = Event<
  | 'bridge_requested'
  | 'session_bound'
  | 'turn_started'
  | 'turn_ended'
  | 'usage_updated'
  | 'compaction_completed'
  | 'compaction_detected'
>;

/** What a bridge reports for its session. What is late of an earlier life of the session changes nothing. */
async function evolveOne(tables: TableWriter, sessionKey: string, event: SessionEvent): Promise<void> {
  const conversationKey = conversationKeyOf(event.stream);
  if (conversationKey !== undefined) await linkSession(tables, conversationKey, sessionKey);

  const before = await sessionOf(tables, sessionKey);
  const session = before ?? newSession();
  const { bridgeId, provider } = event.data;
  if (event.type === 'bridge_requested') {
    putSession(tables, sessionKey, before, { ...session, provider }, event.seq);
    return markEnd(tables, sessionKey, { bridgeId });
  }
  if (event.type === 'turn_started') {
    const { turnId } = event.data;
    const meter = startTurn(session.meter, turnId);
    putSession(tables, sessionKey, before, { ...session, provider, meter }, event.seq);
    return markStart(tables, sessionKey, { bridgeId, turnId }, session.life);
  }
  const isLate = await isStale(tables, sessionKey, session, event.data);
  if (event.type === 'turn_ended') await markEnd(tables, sessionKey, event.data);
  if (isLate) return;
  if (event.type === 'compaction_completed' && event.data.strategy === 'summary-reset') {
    return endSession(tables, sessionKey, event.seq);
  }
  const after = reported(session, event);
  if (after !== session) putSession(tables, sessionKey, before, { ...after, provider }, event.seq);
}

function reported(
  session: SessionRow,
  event: Exclude<SessionEvent, Event<'bridge_requested' | 'turn_started'>>,
): SessionRow {
  switch (event.type) {
    case 'session_bound':
      return { ...session, sessionId: event.data.sessionId };
    case 'usage_updated':
      return measured(session, event.data);
    case 'turn_ended': {
      const { usage } = event.data;
      return usage === undefined ? session : measured(session, { ...event.data, usage });
    }
    case 'compaction_completed':
    case 'compaction_detected':
      return { ...session, measured: true, meter: compactMeter(session.meter, event) };
  }
}

function measured(
  session: SessionRow,
  { provider, turnId, usage }: { provider: string; turnId?: string; usage: UsageReport },
): SessionRow {
  const report = { provider, usage, ...(turnId !== undefined && { turnId }) };
  return { ...session, measured: true, meter: reportUsage(session.meter, report).meter };
}

/** An import brings what is missing, as it came, and nothing of what was reset or cleared since. */
async function importSession(tables: TableWriter, event: Event<'session_imported'>): Promise<void> {
  const { sessionKey, sessionId, usage } = event.data;
  const before = await sessionOf(tables, sessionKey);
  const session = before ?? newSession();
  if (session.life > 0) return;
  const takesId = session.sessionId === undefined && sessionId !== undefined;
  const takesUsage = !session.measured && session.meter.contextTokens === undefined && usage !== undefined;
  if (!takesId && !takesUsage) return;
  const after = {
    ...session,
    ...(takesId && { sessionId }),
    ...(takesUsage && { meter: { ...initialMeter(usage), turns: session.meter.turns } }),
  };
  putSession(tables, sessionKey, before, after, event.seq);
}
