import type { TableWriter } from '../engine/projection.ts';
import { type SessionRow, TURNS, type TurnMark } from './tables.ts';

// Which turn began in which life of its session. A clear or a reset ends a life without looking at turns;
// what a turn of an earlier life still reports is recognized by its mark.

/** How many turns of a session are remembered. A report of an older one is taken for a present one. */
const TURN_MARKS_MAX = 64;

interface Reporter {
  bridgeId: string;
  turnId?: string;
}

export async function markStart(
  tables: TableWriter,
  sessionKey: string,
  turn: { bridgeId: string; turnId: string },
  life: number,
): Promise<void> {
  const { bridgeId, turnId } = turn;
  const others = (await marksOf(tables, sessionKey)).filter((mark) => !isOf(mark, turn));
  const marks = [...others, { bridgeId, turnId, life, open: true }].slice(-TURN_MARKS_MAX);
  tables.put(TURNS, sessionKey, marks);
}

/** The turn ended, or, where none is named, every turn of the bridge did: it begins anew. */
export async function markEnd(tables: TableWriter, sessionKey: string, ended: Reporter): Promise<void> {
  const marks = await marksOf(tables, sessionKey);
  if (!marks.some((mark) => mark.open && isOf(mark, ended))) return;
  tables.put(
    TURNS,
    sessionKey,
    marks.map((mark) => (isOf(mark, ended) ? { ...mark, open: false } : mark)),
  );
}

/** Whether a report is of a turn that began before the session was last cleared or reset. */
export async function isStale(
  tables: TableWriter,
  sessionKey: string,
  session: SessionRow,
  report: Reporter,
): Promise<boolean> {
  const mark = (await marksOf(tables, sessionKey)).findLast((known) => isOf(known, report));
  if (mark === undefined || mark.life === session.life) return false;
  return report.turnId !== undefined || mark.open;
}

function isOf(mark: TurnMark, { bridgeId, turnId }: Reporter): boolean {
  return mark.bridgeId === bridgeId && (turnId === undefined || mark.turnId === turnId);
}

async function marksOf(tables: TableWriter, sessionKey: string): Promise<readonly TurnMark[]> {
  return (await tables.get<readonly TurnMark[]>(TURNS, sessionKey)) ?? [];
}
