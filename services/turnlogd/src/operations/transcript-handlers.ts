import { type OperationParameters, streamOf } from '@turnlog/events';
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
      return {
        seq: saved.reduce((highest, { seq }) => Math.max(highest, seq), log.head()),
        changed: saved.filter(({ changed }) => changed).length,
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
      const stream = streamOf.transcript(scopeId);
      return await streams.run(stream, async () => {
        const { value, seq } = await projections.read('transcripts', (tables) =>
          loadTranscript(tables, scopeId),
        );
        if (value === undefined) return { seq };
        const appended = await log.append(stream, [newEvent('transcript_removed', { scopeId })]);
        return { seq: appended.seq };
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
): Promise<{ seq: number; changed: boolean }> {
  const rows = readRows(messages);
  const stream = streamOf.transcript(scopeId);
  return await streams.run(stream, async () => {
    const { value: state, seq } = await projections.read('transcripts', (tables) =>
      loadSaveState(tables, scopeId, rows),
    );
    const saved = decideSave(state, { rows, ...(base !== undefined && { base }) });
    if (saved === undefined) return { seq, changed: false };
    const appended = await log.append(stream, [newEvent('transcript_saved', saved)]);
    return { seq: appended.seq, changed: true };
  });
}
