import { type OperationResult, streamOf } from '@turnlog/events';
import {
  decideSave,
  listTranscripts,
  loadSaveState,
  loadTranscript,
  readRows,
  transcriptTimes,
} from '@turnlog/projections';
import { type Command, partOf } from '../commands/command.ts';
import { appendFor } from '../commands/commands.ts';
import { DaemonError } from '../errors.ts';
import { newEvent, type Service } from '../service.ts';
import type { Handlers, OwnParameters } from './dispatcher.ts';

type TranscriptHandlers = Pick<
  Handlers,
  | 'transcripts.save'
  | 'transcripts.saveBatch'
  | 'transcripts.load'
  | 'transcripts.loadAll'
  | 'transcripts.remove'
  | 'transcripts.mtimes'
>;

export function transcriptHandlers(service: Service): TranscriptHandlers {
  const { log, projections, streams } = service;
  return {
    'transcripts.save': (entry, { command }) => save(service, entry, command),

    'transcripts.saveBatch': async ({ entries }, { command }) => {
      const saved = await saveAll(service, entries, command);
      const bases = entries.flatMap(({ scopeId }, place): [string, number][] => {
        const base = saved[place]?.base;
        return base === undefined ? [] : [[scopeId, base]];
      });
      return {
        seq: saved.reduce((highest, { seq }) => Math.max(highest, seq), 0),
        changed: saved.filter(({ changed }) => changed).length,
        bases: Object.fromEntries(bases),
      };
    },

    'transcripts.load': async ({ scopeId }) => {
      const { value, seq } = await projections.read('transcripts', (tables) =>
        loadTranscript(tables, scopeId),
      );
      return { messages: value?.messages ?? [], seq };
    },

    'transcripts.loadAll': async (page) => {
      const { value, seq } = await projections.read('transcripts', (tables) => listTranscripts(tables, page));
      // By definition and not by assignment: a scope may have any name, "__proto__" too.
      const transcripts = Object.fromEntries(
        value.transcripts.map(({ scopeId, messages }) => [scopeId, messages]),
      );
      return { transcripts, seq, ...(value.next !== undefined && { next: value.next }) };
    },

    'transcripts.remove': async ({ scopeId }, { command }) => {
      // Logged also where there is nothing: a save that is still on its way must not bring anything back.
      const stream = streamOf.transcript(scopeId);
      return await streams.run(stream, async () => {
        const event = newEvent('transcript_removed', { scopeId });
        const { seq } = await appendFor(log, stream, [event], command && { command, answer: {} });
        return { seq };
      });
    },

    'transcripts.mtimes': async () => {
      const { value } = await projections.read('transcripts', (tables) => transcriptTimes(tables));
      return { times: value };
    },
  };
}

type Entry = OwnParameters<'transcripts.save'>;
type Saved = OperationResult<'transcripts.save'>;

/**
 * Saves each transcript for itself. Where the caller named the command each is a part of it, and a part that is
 * done is not done again after a crash between two. The first goes first: it says what the command is.
 */
async function saveAll(
  service: Service,
  entries: readonly Entry[],
  command: Command | undefined,
): Promise<Saved[]> {
  if (command === undefined)
    return await Promise.all(entries.map((entry) => save(service, entry, undefined)));
  const savePart = async (entry: Entry, place: number): Promise<Saved> => {
    const part = partOf(command, 'transcripts.save', place);
    return (await service.commands.run(part, () => save(service, entry, part))) as Saved;
  };
  const [first, ...others] = entries;
  if (first === undefined) return [];
  const saved = [await savePart(first, 0)];
  return saved.concat(await Promise.all(others.map((entry, index) => savePart(entry, index + 1))));
}

async function save(
  { log, projections, streams }: Service,
  { scopeId, messages, base }: Entry,
  command: Command | undefined,
): Promise<Saved> {
  const rows = readRows(messages);
  assertLoaded(base, log.head());
  const stream = streamOf.transcript(scopeId);
  return await streams.run(stream, async () => {
    const { value: state, seq } = await projections.read('transcripts', (tables) =>
      loadSaveState(tables, scopeId, rows),
    );
    const saved = decideSave(state, { rows, ...(base !== undefined && { base }) });
    const kept: KeptSave = { changed: saved !== undefined, whole: (base ?? 0) >= state.updatedSeq };
    if (saved === undefined && command === undefined) return savedAt(seq, kept);
    const events = saved === undefined ? [] : [newEvent('transcript_saved', saved)];
    const completion = command && { command, answer: kept };
    return savedAt((await appendFor(log, stream, events, completion)).seq, kept);
  });
}

/** Nobody has loaded what is not there yet: with such a base the rows of others would be taken away unseen. */
function assertLoaded(base: number | undefined, head: number): void {
  if (base === undefined || base <= head) return;
  throw new DaemonError('invalid_argument', `base ${base} is beyond the end of the log, which is ${head}`, {
    field: 'base',
    head,
  });
}

/** What a save is answered, without the seq. */
export interface KeptSave {
  changed: boolean;
  /** The client's array is the whole transcript as it is then. */
  whole: boolean;
}

export function savedAt(seq: number, { changed, whole }: KeptSave): Saved {
  return { seq, changed, ...(whole && { base: seq }) };
}
