import { stat } from 'node:fs/promises';
import { nodeFileSystem } from '@turnlog/log';
import {
  getSession,
  isCleared,
  loadConversation,
  loadTranscript,
  type MigrationProgress,
  type MigrationReport,
  type MigrationTarget,
  planMigration,
  readUserData,
  runMigration,
} from '@turnlog/projections';
import { DaemonError } from './errors.ts';
import type { Service } from './service.ts';

export interface MigrateOptions {
  /** A CrewCode user-data directory; it is only read. */
  directory: string;
  dryRun?: boolean;
  onProgress?: (progress: MigrationProgress) => void;
}

/** Brings in what is missing of a CrewCode user-data directory, and nothing else. */
export async function migrate(
  service: Pick<Service, 'log' | 'projections' | 'streams'>,
  { directory, ...options }: MigrateOptions,
): Promise<MigrationReport> {
  await assertDirectory(directory);
  const plan = planMigration(await readUserData(nodeFileSystem, directory));
  return await runMigration(plan, migrationTarget(service), options);
}

async function assertDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch((error: NodeJS.ErrnoException) => {
    throw new DaemonError('invalid_argument', `${directory} cannot be read (${error.code})`, { directory });
  });
  if (!found.isDirectory()) {
    throw new DaemonError('invalid_argument', `${directory} is not a directory`, { directory });
  }
}

function migrationTarget({
  log,
  projections,
  streams,
}: Service | Pick<Service, 'log' | 'projections' | 'streams'>): MigrationTarget {
  return {
    append: (stream, events, options) => streams.run(stream, () => log.append(stream, events, options)),
    revision: async (stream) => await log.revisionOf(stream),
    seqOf: async (_stream, eventId) => await log.seqOf(eventId),
    read: (from) => log.read({ from }) as ReturnType<MigrationTarget['read']>,
    loadConversation: async (conversationKey) => {
      const { value } = await projections.read('conversations', (tables) =>
        loadConversation(tables, conversationKey),
      );
      return value?.messages;
    },
    isCleared: async (conversationKey) =>
      (await projections.read('conversations', (tables) => isCleared(tables, conversationKey))).value,
    getSession: async (sessionKey) =>
      (await projections.read('sessions', (tables) => getSession(tables, sessionKey))).value,
    loadTranscript: async (scopeId) =>
      (await projections.read('transcripts', (tables) => loadTranscript(tables, scopeId))).value?.messages,
    flush: async () => {
      await projections.flush();
    },
  };
}
