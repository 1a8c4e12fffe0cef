import type { LiveEvent } from '@turnlog/events';
import type { Colours } from './colours.ts';
import { formatCount } from './human.ts';
import { safeLine, safeText } from './safe-text.ts';
import { truncate } from './table.ts';

/** What was told of one event of the log. */
export interface Told {
  type: string;
  prompt?: string;
  live: readonly unknown[];
}

/** What is told of events that no live event speaks of. */
const NOTES: Readonly<Record<string, string>> = {
  conversation_cleared: 'the conversation was cleared',
  session_reset: 'the session was reset',
  conversation_imported: 'messages were brought in from elsewhere',
  conversation_aliased: 'messages were copied from another conversation',
  handoff_failed: 'a handoff has failed',
};

/** Tells live events to people: the text as it came, everything else a line each. All of it is made safe. */
export class Storyteller {
  readonly #colours: Colours;
  readonly #width: number | undefined;
  /** What the last piece of running text was, where one has not ended yet. */
  #running: 'text' | 'thinking' | undefined;

  constructor({ colours, width }: { colours: Colours; width: number | undefined }) {
    this.#colours = colours;
    this.#width = width;
  }

  tell({ type, prompt, live }: Told): string {
    const note = NOTES[type];
    return [
      ...(note === undefined ? [] : [this.#note(note)]),
      ...(prompt === undefined ? [] : [this.#heading('user', this.#colours.cyan), `${safeText(prompt)}\n`]),
      ...(live as LiveEvent[]).map((event) => this.#tellOne(event)),
    ].join('');
  }

  /** Ends the line that is being written. */
  end(): string {
    const wasRunning = this.#running !== undefined;
    this.#running = undefined;
    return wasRunning ? '\n' : '';
  }

  #tellOne(event: LiveEvent): string {
    const { dim, red, green } = this.#colours;
    switch (event.type) {
      case 'turn_start':
        return this.#heading('assistant', green);
      case 'text_delta':
        return this.#run('text', safeText(event.delta));
      case 'thinking_delta':
        return this.#run('thinking', dim(safeText(event.delta)));
      case 'turn_end':
        // A whole answer stands where no delta told it.
        return event.text === undefined ? this.end() : `${this.end()}${safeText(event.text)}\n`;
      case 'tool_start':
        return this.#note(`tool ${event.toolName}${shown(event.args)}`);
      case 'tool_end':
        return this.#note(`${event.isError ? 'tool has failed' : 'tool is done'}${shown(event.result)}`);
      case 'user_request':
        return this.#note(`asks: ${event.title}`);
      case 'user_request_resolved':
        return this.#note(`was answered: ${event.action}`);
      case 'compaction_event':
        return this.#note(`compaction ${event.status}`);
      case 'handoff_summary':
        return this.#note('taken over from another conversation');
      case 'usage_update': {
        const { contextTokens } = event.usage;
        return contextTokens === undefined
          ? ''
          : this.#note(`context ${formatCount(contextTokens, 'token')}`);
      }
      case 'error':
        return `${this.end()}${red(safeLine(event.message))}\n`;
      case 'follow_up_queued':
      case 'follow_up_removed':
      case 'idle_stopped':
      case 'closed':
      case 'ready':
      case 'session_id':
      case 'status':
      case 'tool_update':
        return '';
    }
  }

  #run(kind: 'text' | 'thinking', text: string): string {
    const start = this.#running === undefined || this.#running === kind ? '' : '\n';
    this.#running = kind;
    return `${start}${text}`;
  }

  #heading(name: string, paint: (text: string) => string): string {
    return `${this.end()}\n${paint(this.#colours.bold(name))}\n`;
  }

  #note(text: string): string {
    const line = safeLine(text);
    const cut = this.#width === undefined ? line : truncate(line, this.#width - 2);
    return `${this.end()}${this.#colours.dim(`· ${cut}`)}\n`;
  }
}

const VALUE_LENGTH_MAX = 200;

/** A value that a tool was given, or gave, in short. */
function shown(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `: ${text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text}`;
}
