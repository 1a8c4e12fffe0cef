import { Argument, type Command } from 'commander';
import { argumentOf, type CommandSpec } from '../command.ts';
import { describeCommands } from '../completion/describe.ts';
import { SCRIPTS, type Shell } from '../completion/scripts.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';

export const completionCommand: CommandSpec<object> = {
  name: 'completion',
  group: 'other',
  description: 'print what makes a shell complete this command',
  configure: (command) =>
    command.addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS))).addHelpText(
      'after',
      `
bash: source <(turnlog completion bash)
zsh:  source <(turnlog completion zsh), after compinit
fish: turnlog completion fish | source`,
    ),
  async run({ stdout }: Context, _options: object, arguments_: readonly string[], command: Command) {
    const shell = argumentOf(arguments_, 0) as Shell;
    stdout.write(SCRIPTS[shell](describeCommands(command.parent ?? command)));
    return EXIT.ok;
  },
};
