import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { OperationResult } from '@turnlog/events';
import type { MigrationProgress } from '@turnlog/turnlogd';
import { type Context, print } from '../context.ts';
import { isStore, withTarget } from '../target.ts';
import { formatCount } from '../terminal/human.ts';
import { type Progress, startProgress } from '../terminal/progress.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { formatTable } from '../terminal/table.ts';

type Report = OperationResult<'migration.run'>;

/** Brings a CrewCode user-data directory in; the exit status is 2 where not everything could be read. */
export async function migrateCommand(
  context: Context,
  directory: string,
  { dryRun = false }: { dryRun?: boolean },
): Promise<number> {
  const parameters = { directory: resolve(directory), dryRun };
  if (!dryRun || (await isStore(context.dataDirectory))) return await run(context, parameters);
  // Where there is no store yet, a dry run makes none: it looks at what an empty one would be given.
  const scratch = await mkdtemp(join(tmpdir(), 'turnlog-dry-run-'));
  try {
    return await run({ ...context, dataDirectory: scratch }, parameters);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function run(context: Context, parameters: { directory: string; dryRun: boolean }): Promise<number> {
  return await withTarget(
    context,
    async ({ call, daemon }) => {
      const bars: Progress[] = [];
      const onProgress = ({ phase, done, total }: MigrationProgress) => {
        if (bars.length === 0) bars.push(startProgress(context.stderr, phase, total));
        bars[0]?.update(done, phase);
      };
      const report = await (daemon === undefined
        ? call('migration.run', parameters)
        : daemon.migrate({ ...parameters, onProgress })
      ).finally(() => bars[0]?.stop());
      print(context, report, () => inWords(context, report));
      return report.exitCode;
    },
    { create: true },
  );
}

const KINDS = [
  ['conversations', 'conversation'],
  ['cleared', 'cleared'],
  ['sessions', 'session'],
  ['transcripts', 'transcript'],
] as const;

function inWords({ colours, width }: Context, report: Report): string {
  const table = formatTable(
    [
      { title: '' },
      { title: 'FOUND', align: 'right' },
      { title: report.dryRun ? 'TO BRING IN' : 'BROUGHT IN', align: 'right' },
      { title: 'THERE ALREADY', align: 'right' },
      { title: 'KEPT', align: 'right' },
      { title: 'FAILED', align: 'right' },
    ],
    KINDS.map(([title, kind]) => {
      const { broughtIn, alreadyThere, kept, failed } = report.outcomes[kind];
      const counts = [broughtIn + alreadyThere + kept + failed, broughtIn, alreadyThere, kept, failed];
      return [title, ...counts.map((count) => formatCount(count))];
    }),
    { width },
  );
  const sections = [
    section(
      'Could not be read',
      report.problems.map(({ file, reason }) => `${file}: ${reason}`),
    ),
    section(
      'Set aside',
      report.setAside.conversations.map(({ conversationKey, reason }) => `${conversationKey}: ${reason}`),
    ),
    section(
      'Kept as turnlog has it',
      report.kept.map(({ kind, key, reason }) => `${kind} ${key}: ${reason}`),
    ),
    section(
      'Failed',
      report.failed.map(({ kind, key, reason }) => `${kind} ${key}: ${reason}`),
    ),
  ];
  return `${table}${sections.join('')}\n${conclusion(report, colours)}\n`;
}

function section(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `\n${title}:\n${lines.map((line) => `  ${safeLine(line)}\n`).join('')}`;
}

function conclusion(report: Report, colours: Context['colours']): string {
  if (report.dryRun) return 'Nothing was written.';
  switch (report.completed) {
    case 'now':
      return colours.green('Everything that can be read is in, and was read back equal.');
    case 'before':
      return 'Everything was in already; nothing was changed.';
    default:
      return colours.red(`Not complete: ${report.incomplete.map((reason) => safeLine(reason)).join('; ')}`);
  }
}
