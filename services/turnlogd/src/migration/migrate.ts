import { nodeFileSystem } from '@turnlog/log';
import {
  getSession,
  isCleared,
  loadConversation,
  loadTranscript,
  type MigrationOptions,
  type MigrationReport,
  type MigrationStore,
  type MigrationTarget,
  planMigration,
  readUserData,
  runMigration,
  storeTarget,
} from '@turnlog/projections';
import type { Service } from '../service.ts';
import { assertApart, assertDirectory } from './assert-directory.ts';

/** What a migration needs of the daemon. */
export type MigrationParts = Pick<Service, 'log' | 'projections' | 'streams' | 'describe'>;

export interface MigrateOptions extends MigrationOptions {
  /** A CrewCode user-data directory; it is only read. */
  directory: string;
}

/** Brings in what is missing of a CrewCode user-data directory of this machine, and nothing else. */
export async function migrate(
  parts: MigrationParts,
  { directory, ...options }: MigrateOptions,
): Promise<MigrationReport> {
  await assertDirectory(directory);
  await assertApart(directory, parts.describe().data);
  const plan = planMigration(await readUserData(nodeFileSystem, directory));
  return await runMigration(plan, serviceTarget(parts), options);
}

/** A migration into the daemon's own store. */
export function serviceTarget(parts: MigrationParts): MigrationTarget {
  return storeTarget(migrationStore(parts));
}

function migrationStore({ log, projections, streams }: MigrationParts): MigrationStore {
  return {
    append: (stream, events, options) => streams.run(stream, () => log.append(stream, events, options)),
    revision: async (stream) => await log.revisionOf(stream),
    seqOf: async (_stream, eventId) => await log.seqOf(eventId),
    read: (from) => log.read({ from }) as ReturnType<MigrationStore['read']>,
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
