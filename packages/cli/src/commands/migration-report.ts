import type { MigrateIntoReport } from '@turnlog/turnlogd';
import type { Context } from '../context.ts';
import { formatCount } from '../terminal/human.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { formatTable } from '../terminal/table.ts';

const KINDS = [
  ['conversations', 'conversation'],
  ['cleared', 'cleared'],
  ['sessions', 'session'],
  ['transcripts', 'transcript'],
] as const;

export function migrationInWords(
  { colours, width }: Pick<Context, 'colours' | 'width'>,
  report: MigrateIntoReport,
): string {
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
    section('Rows that are no message, kept in the log only', rowsInWords(report)),
    section('Recovered from agent-conversations.json, for want of a file of their own', report.fromMonolith),
    section(
      'Cleared, for all that is left of an entry of the cleared list is how it began',
      report.cleared.flatMap(({ conversationKey, torn }) =>
        torn === undefined ? [] : [`${conversationKey}: the entry began with "${torn}"`],
      ),
    ),
    section('Aliases', aliasesInWords(report)),
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

function rowsInWords({ setAside }: MigrateIntoReport): string[] {
  return setAside.rows.map(
    ({ conversationKey, count }) => `${conversationKey}: ${formatCount(count, 'row')}`,
  );
}

function aliasesInWords({ aliases, dryRun }: MigrateIntoReport): string[] {
  if (aliases === undefined) return [];
  const { made, left } = aliases;
  const done = dryRun ? 'would be made' : 'made';
  return [
    ...(made.length > 0 ? [`${formatCount(made.length, 'conversation')} for remote clients ${done}`] : []),
    ...left.map(({ conversationKey, reason }) => `${conversationKey}: left alone, it ${LEFT[reason]}`),
  ];
}

const LEFT = { exists: 'is there already', cleared: 'was cleared' } as const;

function section(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `\n${title}:\n${lines.map((line) => `  ${safeLine(line)}\n`).join('')}`;
}

function conclusion(report: MigrateIntoReport, colours: Context['colours']): string {
  if (report.dryRun) return 'Nothing was written.';
  const keptCount = report.kept.length;
  switch (report.completed) {
    case 'now':
      return keptCount === 0
        ? colours.green('Everything that can be read is in, and was read back equal.')
        : colours.yellow(
            `What was missing is in, and was read back equal; ${formatCount(keptCount, 'item')} of the source ` +
              'differ from what turnlog has and were left out.',
          );
    case 'before':
      return 'Everything was in already; nothing was changed.';
    default:
      return colours.red(`Not complete: ${report.incomplete.map((reason) => safeLine(reason)).join('; ')}`);
  }
}
