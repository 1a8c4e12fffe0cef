/*
 * What recorded bridges come to, in plain arrays: the reports and commands of everybody in the order in which
 * the daemon took them, and from them what each conversation and each session must show. Written from the
 * rules alone; it knows nothing of events, tables or restarts.
 */
import type { Message, ReportedEvent } from '@turnlog/events';
import { CONTINUE_TEXT } from '@turnlog/projections';

/** A bridge that a host keeps using: always of the same provider and conversation. */
export interface Place {
  bridgeId: string;
  provider: string;
  conversationKey: string;
}

export type Entry =
  | { kind: 'recorded'; place: Place }
  | { kind: 'report'; place: Place; life: number; number: number; report: ReportedEvent }
  /** A turn that is in the log, while the delta that it began with was lost. */
  | { kind: 'begun'; place: Place; turnId: string }
  | { kind: 'stopped'; place: Place }
  | { kind: 'abandoned'; place: Place }
  | { kind: 'cleared'; conversationKey: string }
  | { kind: 'reset'; sessionKey: string; conversationKey?: string }
  | { kind: 'aliased'; from: string; to: string };

interface Turn {
  turnId: string;
  place: Place;
  state: 'open' | 'interrupted' | 'ended';
  prompt?: string;
  /** What came since the turn was last settled. */
  gathered: string;
  answer: string;
}

interface Bridge {
  isOpen: boolean;
  turn: Turn | undefined;
  turns: Map<string, Turn>;
  waiting: { text: string; turnId?: string; promptId?: string }[];
  /** Was there before the conversation was cleared, and has begun no turn since. */
  isStale: boolean;
}

interface Conversation {
  summary: string | undefined;
  rows: (Turn | Message)[];
}

interface Session {
  sessionId?: string;
  tokens?: number;
  life: number;
  /** The turns of its bridges: which life they began in, and whether their end was told. */
  turns: { place: Place; turnId: string; life: number; isOpen: boolean }[];
}

export function sessionKeyAt({ conversationKey, provider }: Place): string {
  return `${familyOf(conversationKey)}${provider}`;
}

function familyOf(conversationKey: string): string {
  return `${conversationKey.replace(/^(thread|web):/, '')}:`;
}

export class RecordedModel {
  readonly #bridges = new Map<Place, Bridge>();
  readonly #conversations = new Map<string, Conversation>();
  readonly #cleared = new Set<string>();
  readonly #sessions = new Map<string, Session>();

  static of(journal: readonly Entry[]): RecordedModel {
    const model = new RecordedModel();
    for (const entry of journal) model.take(entry);
    return model;
  }

  /** The messages of a conversation: none of a cleared one, undefined of one that nobody knows. */
  shown(conversationKey: string): Message[] | undefined {
    const conversation = this.#conversations.get(conversationKey);
    if (conversation === undefined) return this.#cleared.has(conversationKey) ? [] : undefined;
    const { summary, rows } = conversation;
    const first: Message[] =
      summary === undefined
        ? []
        : [
            { role: 'user', content: CONTINUE_TEXT },
            { role: 'assistant', content: summary },
          ];
    return [...first, ...rows.flatMap(messagesOf)];
  }

  session(sessionKey: string): { sessionId?: string; usage?: { contextTokens: number } } {
    const { sessionId, tokens } = this.#sessionAt(sessionKey);
    return {
      ...(sessionId !== undefined && { sessionId }),
      ...(tokens !== undefined && { usage: { contextTokens: tokens } }),
    };
  }

  openTurnOf(place: Place): string | undefined {
    return this.#bridges.get(place)?.turn?.turnId;
  }

  isOpen(place: Place): boolean {
    return this.#bridges.get(place)?.isOpen ?? false;
  }

  /** What an alias answers: why nothing was copied, or undefined where it was. */
  refusalOfAlias(from: string, to: string): 'cleared' | 'exists' | 'no_source' | undefined {
    if (this.#cleared.has(to)) return 'cleared';
    if (this.#conversations.has(to)) return 'exists';
    return this.#conversations.has(from) ? undefined : 'no_source';
  }

  take(entry: Entry): void {
    switch (entry.kind) {
      case 'recorded':
        this.#record(entry.place);
        return;
      case 'report':
        this.#report(entry.place, entry.report);
        return;
      case 'begun':
        this.#ensure(entry.place, this.#bridgeAt(entry.place), entry.turnId);
        return;
      case 'stopped':
        this.#stop(entry.place);
        return;
      case 'abandoned':
        this.#interrupt(this.#bridgeAt(entry.place));
        return;
      case 'cleared':
        this.#clear(entry.conversationKey);
        this.#endFamily(entry.conversationKey);
        return;
      case 'reset':
        if (entry.conversationKey !== undefined) this.#clear(entry.conversationKey);
        endSession(this.#sessionAt(entry.sessionKey));
        return;
      case 'aliased': {
        if (this.refusalOfAlias(entry.from, entry.to) !== undefined) return;
        this.#conversations.set(entry.to, { summary: undefined, rows: this.shown(entry.from) ?? [] });
      }
    }
  }

  #record(place: Place): void {
    const former = this.#bridges.get(place);
    this.#bridges.set(place, {
      isOpen: true,
      turn: undefined,
      turns: former?.turns ?? new Map(),
      waiting: [],
      isStale: false,
    });
    for (const turn of this.#sessionOf(place).turns) if (turn.place === place) turn.isOpen = false;
  }

  #stop(place: Place): void {
    const bridge = this.#bridgeAt(place);
    this.#interrupt(bridge);
    Object.assign(bridge, { isOpen: false, waiting: [], isStale: false });
  }

  #clear(conversationKey: string): void {
    this.#conversations.delete(conversationKey);
    this.#cleared.add(conversationKey);
    for (const [place, bridge] of this.#bridges) {
      if (bridge.isOpen && place.conversationKey === conversationKey) bridge.isStale = true;
    }
  }

  #endFamily(conversationKey: string): void {
    const family = familyOf(conversationKey);
    for (const [sessionKey, session] of this.#sessions) {
      if (sessionKey.startsWith(family)) endSession(session);
    }
  }

  #report(place: Place, report: ReportedEvent): void {
    const bridge = this.#bridgeAt(place);
    switch (report.type) {
      case 'prompt':
        this.#prompt(bridge, report);
        return;
      case 'follow_up_queued':
        bridge.waiting.push({ text: report.text, promptId: report.promptId });
        return;
      case 'follow_up_removed':
        if (report.reason === 'sent') return;
        bridge.waiting = bridge.waiting.filter(({ promptId }) => promptId !== report.promptId);
        return;
      case 'turn_start':
        if (bridge.turn?.turnId !== report.turnId) this.#begin(place, bridge, report.turnId);
        return;
      case 'text_delta':
        this.#ensure(place, bridge, report.turnId).gathered += report.delta;
        return;
      case 'thinking_delta':
      case 'tool_start':
      case 'tool_end':
        this.#ensure(place, bridge, report.turnId);
        return;
      case 'turn_end':
        this.#end(place, bridge, report);
        return;
      case 'error': {
        const turnId =
          report.turnId ?? (report.code === 'turn_interrupted' ? bridge.turn?.turnId : undefined);
        if (turnId !== undefined && turnId === bridge.turn?.turnId) this.#interrupt(bridge);
        return;
      }
      case 'usage_update':
        this.#measure(place, report.turnId, report.usage.contextTokens);
        return;
      case 'session_id':
        if (this.#isStaleReport(place, bridge.turn?.turnId)) return;
        this.#sessionOf(place).sessionId = report.sessionId;
        return;
      case 'compaction_event':
        if (report.status === 'completed') this.#compact(place, bridge, report);
        return;
      case 'closed':
      case 'idle_stopped':
        this.#stop(place);
        return;
      case 'ready':
      case 'status':
      case 'tool_update':
      case 'user_request':
      case 'user_request_resolved':
      case 'handoff_summary':
        return;
    }
  }

  #prompt(bridge: Bridge, { text, turnId }: { text: string; turnId?: string }): void {
    const turn = turnId === undefined ? undefined : bridge.turns.get(turnId);
    if (turn === undefined) bridge.waiting.push({ text, ...(turnId !== undefined && { turnId }) });
    else turn.prompt ??= text;
  }

  #begin(place: Place, bridge: Bridge, turnId: string): Turn {
    for (const [other, { turn }] of this.#bridges) {
      if (turn !== undefined && other.conversationKey === place.conversationKey) {
        this.#interrupt(this.#bridgeAt(other));
      }
    }
    const named = bridge.waiting.findIndex((prompt) => prompt.turnId === turnId);
    const found = named === -1 ? bridge.waiting.findIndex((prompt) => prompt.turnId === undefined) : named;
    const [prompt] = found === -1 ? [] : bridge.waiting.splice(found, 1);
    const turn: Turn = {
      turnId,
      place,
      state: 'open',
      gathered: '',
      answer: '',
      ...(prompt !== undefined && { prompt: prompt.text }),
    };
    this.#cleared.delete(place.conversationKey);
    const conversation = this.#conversations.get(place.conversationKey) ?? { summary: undefined, rows: [] };
    conversation.rows.push(turn);
    this.#conversations.set(place.conversationKey, conversation);
    bridge.turn = turn;
    bridge.turns.set(turnId, turn);
    bridge.isStale = false;
    const session = this.#sessionOf(place);
    session.turns.push({ place, turnId, life: session.life, isOpen: true });
    return turn;
  }

  /** A report of a turn that nobody started starts it. */
  #ensure(place: Place, bridge: Bridge, turnId: string): Turn {
    return bridge.turns.get(turnId) ?? this.#begin(place, bridge, turnId);
  }

  #interrupt(bridge: Bridge): void {
    const { turn } = bridge;
    if (turn === undefined) return;
    turn.state = 'interrupted';
    turn.answer += turn.gathered;
    turn.gathered = '';
    bridge.turn = undefined;
  }

  #end(place: Place, bridge: Bridge, { turnId, text, usage }: ReportedEvent & { type: 'turn_end' }): void {
    const turn = this.#ensure(place, bridge, turnId);
    if (turn.state !== 'ended') {
      turn.answer = text ?? turn.answer + turn.gathered;
      turn.gathered = '';
      turn.state = 'ended';
    }
    if (bridge.turn === turn) bridge.turn = undefined;
    this.#measure(place, turnId, usage?.contextTokens);
    const mark = this.#sessionOf(place).turns.find((each) => each.place === place && each.turnId === turnId);
    if (mark !== undefined) mark.isOpen = false;
  }

  #measure(place: Place, turnId: string | undefined, tokens: number | undefined): void {
    if (tokens === undefined || this.#isStaleReport(place, turnId)) return;
    const session = this.#sessionOf(place);
    session.tokens = Math.max(session.tokens ?? 0, tokens);
  }

  #compact(place: Place, bridge: Bridge, report: ReportedEvent & { type: 'compaction_event' }): void {
    const { summary, strategy, resetContext, turnId, keptFromTurnId } = report;
    if (summary !== undefined && summary !== '' && !bridge.isStale) {
      this.#collapse(place, summary, keptFromTurnId);
    }
    if (this.#isStaleReport(place, turnId)) return;
    const session = this.#sessionOf(place);
    if (strategy === 'summary-reset') endSession(session);
    else if (summary !== undefined || resetContext !== false) delete session.tokens;
  }

  #collapse(place: Place, summary: string, keptFromTurnId: string | undefined): void {
    const conversation = this.#conversations.get(place.conversationKey);
    if (conversation === undefined) return;
    const { rows } = conversation;
    const named = rows.filter((row): row is Turn => 'turnId' in row && row.turnId === keptFromTurnId);
    const kept = named.find((turn) => turn.place === place) ?? named.at(-1);
    const from = kept === undefined ? rows.length : rows.indexOf(kept);
    const open = rows.slice(0, from).filter((row): row is Turn => 'turnId' in row && row.state === 'open');
    for (const turn of open) delete turn.prompt;
    conversation.summary = summary;
    conversation.rows = [...open, ...rows.slice(from)];
  }

  /** A report of a turn that began before its session was last ended; without a turn, of the bridge's last. */
  #isStaleReport(place: Place, turnId: string | undefined): boolean {
    const session = this.#sessionOf(place);
    const turn = session.turns.findLast(
      (each) => each.place === place && (turnId === undefined || each.turnId === turnId),
    );
    if (turn === undefined || turn.life === session.life) return false;
    return turnId !== undefined || turn.isOpen;
  }

  #bridgeAt(place: Place): Bridge {
    const bridge = this.#bridges.get(place);
    if (bridge === undefined) throw new Error(`${place.bridgeId} was never recorded`);
    return bridge;
  }

  #sessionOf(place: Place): Session {
    return this.#sessionAt(sessionKeyAt(place));
  }

  #sessionAt(sessionKey: string): Session {
    let session = this.#sessions.get(sessionKey);
    if (session === undefined) {
      session = { life: 0, turns: [] };
      this.#sessions.set(sessionKey, session);
    }
    return session;
  }
}

function endSession(session: Session): void {
  delete session.sessionId;
  delete session.tokens;
  session.life += 1;
}

function messagesOf(row: Turn | Message): Message[] {
  if ('role' in row) return [row];
  return [
    ...(row.prompt === undefined ? [] : [{ role: 'user' as const, content: row.prompt }]),
    ...(row.answer === '' ? [] : [{ role: 'assistant' as const, content: row.answer }]),
  ];
}
