import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { assertApart, type MigrateIntoReport, type MigrationProgress, migrateInto } from '@turnlog/turnlogd';
import { InvalidArgumentError } from 'commander';
import { argumentOf, type CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { interruptible } from '../interrupt.ts';
import { openRemote } from '../remote.ts';
import { isStore, withTarget } from '../target.ts';
import { type Progress, startProgress } from '../terminal/progress.ts';
import { migrationInWords } from './migration-report.ts';

interface MigrateOptions {
  dryRun?: boolean;
  into?: string;
  tokenFile?: string;
}

export const migrateCommand: CommandSpec<MigrateOptions> = {
  name: 'migrate',
  group: 'change',
  description: 'bring in the conversations of CrewCode',
  configure: (command) =>
    command
      .argument('<userdata>', "CrewCode's user-data directory, such as ~/.config/crewcode", directoryOf)
      .option('--dry-run', 'only say what would be brought in')
      .option('--into <address>', 'into the daemon at this address, also for its remote clients', addressOf)
      .option('--token-file <file>', 'the token of that daemon (else that of the data directory)'),
  run: migrate,
};

/** What a way of migrating is given. */
interface Run {
  directory: string;
  dryRun: boolean;
  onProgress: (progress: MigrationProgress) => void;
  signal: AbortSignal;
}

/** Brings a CrewCode user-data directory in; the exit status is 2 where not everything could be read. */
async function migrate(
  context: Context,
  { dryRun = false, into, tokenFile }: MigrateOptions,
  arguments_: readonly string[],
): Promise<number> {
  const directory = resolve(argumentOf(arguments_, 0));
  const bars: Progress[] = [];
  const onProgress = ({ phase, done, total }: MigrationProgress) => {
    if (bars.length === 0) bars.push(startProgress(context.stderr, phase, total));
    bars[0]?.update(done, phase);
  };
  const report = await interruptible(async (signal) => {
    const run = { directory, dryRun, onProgress, signal };
    try {
      if (into !== undefined) return await migrateToAddress(context, into, tokenFile, run);
      return await migrateToData(context, run);
    } finally {
      bars[0]?.stop();
    }
  });
  print(context, report, () => migrationInWords(context, report));
  return report.exitCode;
}

async function migrateToAddress(
  context: Context,
  address: string,
  tokenFile: string | undefined,
  run: Run,
): Promise<MigrateIntoReport> {
  const client = await openRemote(context, address, tokenFile);
  try {
    return await migrateInto(client.call, { ...run, webAliases: true });
  } finally {
    client.close();
  }
}

/** The files are read here and not by the daemon, which may not be allowed to. */
async function migrateToData(context: Context, run: Run): Promise<MigrateIntoReport> {
  // Before a store is made there: what is only read would be written over.
  await assertApart(run.directory, context.dataDirectory);
  const migrateTo = (dataDirectory: string) =>
    withTarget(
      { ...context, dataDirectory },
      ({ call, daemon }) => (daemon === undefined ? migrateInto(call, run) : daemon.migrate(run)),
      { create: true },
    );
  if (!run.dryRun || (await isStore(context.dataDirectory))) return await migrateTo(context.dataDirectory);
  // Where there is no store yet, a dry run makes none: it looks at what an empty one would be given.
  const scratch = await mkdtemp(join(tmpdir(), 'turnlog-dry-run-'));
  try {
    return await migrateTo(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** An empty name comes of a variable that is not set, and would mean the current directory. */
function directoryOf(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/** `127.0.0.1:7717` is an address as well. */
function addressOf(text: string): string {
  const address = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isPlain =
    url !== undefined && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (!isPlain) throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:7717.');
  return url.origin;
}
