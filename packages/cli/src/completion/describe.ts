import type { Argument, Command, Option } from 'commander';

/** An option as a shell completes it. */
export interface DescribedOption {
  /** With its dashes. */
  flag: string;
  description: string;
  takesValue: boolean;
  /** The values that it takes, where they are known. */
  values: readonly string[];
}

/** A command, or one below another: then its path holds both names. */
export interface DescribedCommand {
  path: readonly string[];
  description: string;
  options: readonly DescribedOption[];
  /** The values of its first argument, where they are known; else names of files may come. */
  argumentValues: readonly string[];
  /** The names of the commands below it. */
  below: readonly string[];
}

/** Every command of the tree, those without an own action too. */
export function describeCommands(program: Command): DescribedCommand[] {
  return program.commands.flatMap((command) => describe(command, []));
}

function describe(command: Command, above: readonly string[]): DescribedCommand[] {
  const path = [...above, command.name()];
  const described = {
    path,
    description: command.description(),
    options: [...command.options.map(describeOption), HELP],
    argumentValues: (command.registeredArguments as readonly Argument[])[0]?.argChoices ?? [],
    below: command.commands.map((each) => each.name()),
  };
  return [described, ...command.commands.flatMap((each) => describe(each, path))];
}

const HELP: DescribedOption = { flag: '--help', description: 'display help', takesValue: false, values: [] };

function describeOption({ long, description, required, optional, argChoices }: Option): DescribedOption {
  return { flag: long ?? '', description, takesValue: required || optional, values: argChoices ?? [] };
}
