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
  switch (report.completed) {
    case 'now':
      return colours.green('Everything that can be read is in, and was read back equal.');
    case 'before':
      return 'Everything was in already; nothing was changed.';
    default:
      return colours.red(`Not complete: ${report.incomplete.map((reason) => safeLine(reason)).join('; ')}`);
  }
}
