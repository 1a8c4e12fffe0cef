import { type OperationParameters, type OperationResult, streamOf } from '@turnlog/events';
import {
  decideSave,
  listTranscripts,
  loadSaveState,
  loadTranscript,
  readRows,
  transcriptTimes,
} from '@turnlog/projections';
import { newEvent, type Service } from '../service.ts';
import type { Handlers } from './dispatcher.ts';

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
    'transcripts.save': (entry) => save(service, entry),

    'transcripts.saveBatch': async ({ entries }) => {
      const saved = await Promise.all(entries.map((entry) => save(service, entry)));
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

    'transcripts.remove': async ({ scopeId }) => {
      // Logged also where there is nothing: a save that is still on its way must not bring anything back.
      const stream = streamOf.transcript(scopeId);
      return await streams.run(stream, async () => {
        const { seq } = await log.append(stream, [newEvent('transcript_removed', { scopeId })]);
        return { seq };
      });
    },

    'transcripts.mtimes': async () => {
      const { value } = await projections.read('transcripts', (tables) => transcriptTimes(tables));
      return { times: value };
    },
  };
}

async function save(
  { log, projections, streams }: Service,
  { scopeId, messages, base }: OperationParameters<'transcripts.save'>,
): Promise<OperationResult<'transcripts.save'>> {
  const rows = readRows(messages);
  const stream = streamOf.transcript(scopeId);
  return await streams.run(stream, async () => {
    const { value: state, seq } = await projections.read('transcripts', (tables) =>
      loadSaveState(tables, scopeId, rows),
    );
    const saved = decideSave(state, { rows, ...(base !== undefined && { base }) });
    const end =
      saved === undefined ? seq : (await log.append(stream, [newEvent('transcript_saved', saved)])).seq;
    const isWhole = (base ?? 0) >= state.updatedSeq;
    return { seq: end, changed: saved !== undefined, ...(isWhole && { base: end }) };
  });
}
