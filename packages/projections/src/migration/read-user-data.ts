import { ProjectionError } from '../errors.ts';
import {
  CONVERSATIONS_DIRECTORY,
  MONOLITH_FILE,
  readCleared,
  readMonolith,
  readShards,
} from './read-conversations.ts';
import type { UserDataReader } from './read-file.ts';
import { readSessions, SESSIONS_FILE } from './read-sessions.ts';
import { readTranscripts, TRANSCRIPTS_DIRECTORY } from './read-transcripts.ts';
import type { UserData, UserDataFileSystem } from './user-data.ts';

const PARTS = [MONOLITH_FILE, CONVERSATIONS_DIRECTORY, SESSIONS_FILE, TRANSCRIPTS_DIRECTORY];

/**
 * Reads a CrewCode user-data directory and changes nothing in it. What cannot be read is a problem of the
 * file concerned, never the end of the whole. CrewCode's mark that it copied the monolith into shards is
 * not looked at: it says that the copying ran, not that the shards are still there.
 * @throws ProjectionError `invalid_argument` where there is no such directory
 */
export async function readUserData(fileSystem: UserDataFileSystem, directory: string): Promise<UserData> {
  const reader: UserDataReader = { fileSystem, directory, problems: [] };
  await assertDirectory(reader);
  const cleared = await readCleared(reader);
  const shards = await readShards(reader);
  const monolith = await readMonolith(reader);
  const sessions = await readSessions(reader);
  const transcripts = await readTranscripts(reader);
  const unread = [
    ...(shards === undefined ? [CONVERSATIONS_DIRECTORY] : []),
    ...(monolith === undefined ? [MONOLITH_FILE] : []),
    ...(sessions === undefined ? [SESSIONS_FILE] : []),
    ...(transcripts === undefined ? [TRANSCRIPTS_DIRECTORY] : []),
  ];
  return {
    cleared,
    shards: shards ?? [],
    monolith: monolith ?? [],
    sessions: sessions ?? [],
    transcripts: transcripts ?? [],
    problems: reader.problems,
    unread,
  };
}

async function assertDirectory(reader: UserDataReader): Promise<void> {
  const { fileSystem, directory, problems } = reader;
  let names: string[];
  try {
    names = await fileSystem.readdir(directory);
  } catch (error) {
    throw new ProjectionError(
      'invalid_argument',
      `not a directory that can be read: ${directory}`,
      undefined,
      {
        cause: error,
      },
    );
  }
  if (!PARTS.some((part) => names.includes(part))) {
    problems.push({ file: '.', reason: 'holds nothing of CrewCode: is it the right directory?' });
  }
}
