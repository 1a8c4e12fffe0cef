import { isKey, JsonText } from '@turnlog/events';
import { fileDigestOf } from '../file-digest.ts';
import { BAD_KEY } from './read-conversations.ts';
import { fieldOf, readJson, readNames, type UserDataReader } from './read-file.ts';
import type { StoredTranscript } from './user-data.ts';

export const TRANSCRIPTS_DIRECTORY = 'transcripts';
const TRANSCRIPT_NAME = /^transcript\.([0-9a-f]{24})\.json$/;

/**
 * Every transcript that can be read; undefined where their directory cannot. CrewCode lists a transcript
 * under the scope that its content names, whatever its file is called; so it is here, unless the scope has
 * a file of its own.
 */
export async function readTranscripts(reader: UserDataReader): Promise<StoredTranscript[] | undefined> {
  const names = await readNames(reader, TRANSCRIPTS_DIRECTORY);
  if (names === 'unreadable') return undefined;
  if (names === 'absent') return [];
  const found = new Map<string, StoredTranscript & { file: string; own: boolean }>();
  for (const name of names) {
    const digest = TRANSCRIPT_NAME.exec(name)?.[1];
    if (digest === undefined) continue;
    const file = `${TRANSCRIPTS_DIRECTORY}/${name}`;
    const transcript = await readTranscript(reader, file);
    if (transcript === undefined) continue;
    const { scopeId } = transcript;
    const next = { ...transcript, file, own: fileDigestOf(scopeId) === digest };
    const before = found.get(scopeId);
    const [taken, left] = next.own || before === undefined ? [next, before] : [before, next];
    found.set(scopeId, taken);
    if (left !== undefined) {
      reader.problems.push({ file: left.file, reason: `holds the scope of ${taken.file}`, key: scopeId });
    }
  }
  return [...found.values()].map(({ scopeId, rows }) => ({ scopeId, rows }));
}

async function readTranscript(reader: UserDataReader, file: string): Promise<StoredTranscript | undefined> {
  const content = await readJson(reader, file);
  if (typeof content === 'string') return undefined;
  const scopeId = fieldOf(content.value, 'scopeId');
  const rows = fieldOf(content.value, 'messages');
  const refuse = (reason: string) => {
    reader.problems.push({ file, reason, ...(typeof scopeId === 'string' && { key: scopeId }) });
    return undefined;
  };
  if (typeof scopeId !== 'string') return refuse('names no scope');
  if (!isKey(scopeId)) return refuse(BAD_KEY);
  if (!Array.isArray(rows)) return refuse('has no list of messages');
  const objects = rows.filter((row) => typeof row === 'object' && row !== null);
  if (objects.length < rows.length) refuse(`holds ${rows.length - objects.length} rows that are no objects`);
  try {
    return { scopeId, rows: objects.map((row) => JsonText.of(row)) };
  } catch {
    return refuse('holds a row that is nested too deep');
  }
}
