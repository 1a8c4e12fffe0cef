import { nodeFileSystem } from '@turnlog/log';
import {
  CLEARED_DIGEST,
  digestOfItem,
  MIGRATION_BATCH_ITEMS,
  type MigrationItem,
  type MigrationOptions,
  type MigrationPlan,
  type MigrationReport,
  type MigrationTarget,
  planMigration,
  readUserData,
  runMigration,
} from '@turnlog/projections';
import { assertDirectory } from './assert-directory.ts';
import { type CallOperation, operationsTarget } from './operations-target.ts';

/** What became of the aliases: `web:<session>` for each `thread:<session>`. */
export interface AliasReport {
  /** Made by this run; in a dry run: would be. */
  made: string[];
  /** Left as they are: there is such a conversation already, or it was cleared. */
  left: { conversationKey: string; reason: 'exists' | 'cleared' }[];
}

export interface MigrateIntoReport extends MigrationReport {
  /** Absent where none were asked for. */
  aliases?: AliasReport;
}

export interface MigrateIntoOptions extends MigrationOptions {
  /** A CrewCode user-data directory of this machine; it is only read. */
  directory: string;
  /** Makes each desktop conversation known to remote clients as well. */
  webAliases?: boolean;
}

/**
 * Brings what is missing of a user-data directory of this machine into a daemon that is reached by its
 * operations alone, and nothing else. An interrupted run is begun again and goes on where it stopped.
 * @throws DaemonError `invalid_argument` where there is no such directory; what `call` throws
 */
export async function migrateInto(
  call: CallOperation,
  { directory, webAliases = false, ...options }: MigrateIntoOptions,
): Promise<MigrateIntoReport> {
  await assertDirectory(directory);
  const plan = planMigration(await readUserData(nodeFileSystem, directory));
  const target = operationsTarget(call);
  const report = await runMigration(plan, target, options);
  if (!webAliases) return report;
  return { ...report, aliases: await makeAliases(call, target, plan, options) };
}

const THREAD = 'thread:';
const WEB = 'web:';

/**
 * Made at every run, also when everything was in already: the same directory may have come in before,
 * without aliases. An alias copies, so a target that is there or was cleared is left alone.
 */
async function makeAliases(
  call: CallOperation,
  target: MigrationTarget,
  { items }: MigrationPlan,
  { dryRun = false, signal }: MigrationOptions,
): Promise<AliasReport> {
  const threads = items
    .filter(({ kind, key }) => kind === 'conversation' && key.startsWith(THREAD))
    .map(({ key }) => key);
  // A dry run sees what would be there by then.
  const planned = new Map(
    dryRun ? items.filter(isOfConversation).map((item) => [item.key, digestOfItem(item)]) : [],
  );
  const report: AliasReport = { made: [], left: [] };
  for (let first = 0; first < threads.length; first += MIGRATION_BATCH_ITEMS) {
    signal?.throwIfAborted();
    for (const { from, to, source, found } of await lookUp(
      target,
      planned,
      threads.slice(first, first + MIGRATION_BATCH_ITEMS),
    )) {
      if (found === CLEARED_DIGEST) report.left.push({ conversationKey: to, reason: 'cleared' });
      else if (found !== undefined) report.left.push({ conversationKey: to, reason: 'exists' });
      // A conversation that was cleared here since has nothing that a remote client could go on with.
      else if (source === undefined || source === CLEARED_DIGEST) continue;
      else if (dryRun) report.made.push(to);
      else await makeAlias(call, from, to, report);
    }
  }
  return report;
}

function isOfConversation({ kind }: MigrationItem): boolean {
  return kind === 'conversation' || kind === 'cleared';
}

/** The digests of conversations and of what their aliases would be. */
async function lookUp(
  target: MigrationTarget,
  planned: ReadonlyMap<string, string>,
  threads: readonly string[],
): Promise<{ from: string; to: string; source: string | undefined; found: string | undefined }[]> {
  const pairs = threads.map((from) => ({ from, to: `${WEB}${from.slice(THREAD.length)}` }));
  const digestsOf = async (keys: string[]) => {
    const digests = await target.digests(keys.map((key) => ({ kind: 'conversation' as const, key })));
    return digests.map((digest, place) => digest ?? planned.get(keys[place] ?? ''));
  };
  const sources = await digestsOf(pairs.map(({ from }) => from));
  const found = await digestsOf(pairs.map(({ to }) => to));
  return pairs.map((pair, place) => ({ ...pair, source: sources[place], found: found[place] }));
}

async function makeAlias(call: CallOperation, from: string, to: string, report: AliasReport): Promise<void> {
  const { aliased, reason } = await call('conversation.alias', { from, to });
  if (aliased) report.made.push(to);
  else if (reason === 'exists' || reason === 'cleared') report.left.push({ conversationKey: to, reason });
}
