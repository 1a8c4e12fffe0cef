import type { Projection } from '../engine/projection.ts';
import { fileDigestOf } from '../file-digest.ts';
import { evolveTranscripts } from './fold.ts';
import { loadTranscript } from './reads.ts';

/**
 * The visible transcripts: `transcripts/transcript.<digest>.json`, `{"scopeId":…,"messages":[…]}`, the rows
 * spliced as the text that came. A transcript that was removed has no file. A dirty mark is the scope.
 *
 * The file's name is 96 bits of a hash, as hosts know it: two scopes that share a name would share the file.
 * Such a pair is not to be found by trying; the tables, from which all reads are answered, would hold both.
 */
export const transcripts: Projection = {
  name: 'transcripts',
  version: 1,
  evolve: evolveTranscripts,
  fileOf(scopeId) {
    return `transcripts/transcript.${fileDigestOf(scopeId)}.json`;
  },
  async render(tables, scopeId) {
    const transcript = await loadTranscript(tables, scopeId);
    if (transcript === undefined) return undefined;
    const rows = transcript.messages.map(({ text }) => text).join(',');
    return `{"scopeId":${JSON.stringify(scopeId)},"messages":[${rows}]}`;
  },
};
