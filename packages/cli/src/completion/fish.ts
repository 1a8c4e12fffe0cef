import type { DescribedCommand, DescribedOption } from './describe.ts';

export function fishScript(commands: readonly DescribedCommand[]): string {
  const lines = commands.flatMap((command) => [
    nameLine(command),
    ...command.argumentValues.map(
      (value) => `complete -c turnlog -n ${conditionOf(command)} -f -a ${quoted(value)}`,
    ),
    ...command.options.map((option) => optionLine(command, option)),
  ]);
  return `# turnlog: completion for fish\n${lines.join('\n')}\n`;
}

function nameLine({ path, description }: DescribedCommand): string {
  const [above] = path;
  const condition = path.length === 1 ? '__fish_use_subcommand' : `'__fish_seen_subcommand_from ${above}'`;
  return `complete -c turnlog -n ${condition} -f -a ${quoted(path.at(-1) ?? '')} -d ${quoted(description)}`;
}

function optionLine(
  command: DescribedCommand,
  { flag, description, takesValue, values }: DescribedOption,
): string {
  const value = takesValue ? ` -r${values.length > 0 ? ` -f -a ${quoted(values.join(' '))}` : ''}` : '';
  return `complete -c turnlog -n ${conditionOf(command)} -l ${flag.slice(2)}${value} -d ${quoted(description)}`;
}

function conditionOf({ path }: DescribedCommand): string {
  return quoted(path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and '));
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
