import { TurnlogError } from '@turnlog/events';
import { VERSION } from '@turnlog/turnlogd';
import { Command, CommanderError } from 'commander';
import { type CommandFamily, type CommandSpec, GROUPS } from './command.ts';
import { clearCommand } from './commands/clear.ts';
import { completionCommand } from './commands/completion.ts';
import { configCommand } from './commands/config.ts';
import { conversationsCommand } from './commands/conversations.ts';
import { logCommand } from './commands/log.ts';
import { migrateCommand } from './commands/migrate.ts';
import { rebuildCommand } from './commands/rebuild.ts';
import { replayCommand } from './commands/replay.ts';
import { resetCommand } from './commands/reset.ts';
import { serveCommand } from './commands/serve.ts';
import { showCommand } from './commands/show.ts';
import { statusCommand } from './commands/status.ts';
import { tokenCommands } from './commands/token.ts';
import { verifyCommand } from './commands/verify.ts';
import { type CommonOptions, contextOf, type Streams } from './context.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { Interrupted } from './interrupt.ts';
import { settingOption } from './options.ts';
import { formatJson } from './terminal/json.ts';
import { safeText } from './terminal/safe-text.ts';

/** Every command, in the order in which they are listed. */
const COMMANDS: readonly (CommandSpec | CommandFamily)[] = [
  serveCommand,
  statusCommand,
  conversationsCommand,
  showCommand,
  replayCommand,
  logCommand,
  configCommand,
  migrateCommand,
  clearCommand,
  resetCommand,
  rebuildCommand,
  verifyCommand,
  tokenCommands,
  completionCommand,
];

/** Runs the command line and answers its exit status. */
export async function run(arguments_: readonly string[], streams: Streams): Promise<number> {
  let exitCode: number = EXIT.ok;
  const complaints: string[] = [];
  const program = createProgram(streams, {
    onDone: (code) => {
      exitCode = code;
    },
    onComplaint: (text) => complaints.push(text),
  });
  const json = arguments_.includes('--json');
  try {
    await program.parseAsync([...arguments_], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    if (!(error instanceof CommanderError)) {
      report(error, json, streams);
      return exitCodeOf(error);
    }
    if (error.exitCode === 0) return EXIT.ok;
    reportUsage(error, complaints.join(''), json, streams);
    return EXIT.usage;
  }
}

interface Callbacks {
  /** Told the exit status of the command that ran. */
  onDone(exitCode: number): void;
  /** Told what is wrong with the command line. */
  onComplaint(text: string): void;
}

function createProgram(streams: Streams, callbacks: Callbacks): Command {
  const program = new Command('turnlog')
    .description('Keeps the conversations of AI agents: every turn an event in an append-only log.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('Run "turnlog help" for the commands.')
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: callbacks.onComplaint,
      getOutHelpWidth: () => streams.stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => streams.stderr.columns ?? HELP_WIDTH,
    });
  program.commandsGroup(GROUPS.other).helpCommand(true);
  for (const spec of COMMANDS) {
    if ('below' in spec) addFamily(program, spec, streams, callbacks);
    else addCommand(program, spec, streams, callbacks);
  }
  return program;
}

const HELP_WIDTH = 100;

function addFamily(program: Command, family: CommandFamily, streams: Streams, callbacks: Callbacks): void {
  const { name, group, description, below } = family;
  const parent = program.command(name).description(description).helpGroup(GROUPS[group]);
  for (const spec of below) addCommand(parent, spec, streams, callbacks);
}

function addCommand(parent: Command, spec: CommandSpec, streams: Streams, { onDone }: Callbacks): void {
  const command = parent.command(spec.name).description(spec.description);
  if (spec.group !== undefined) command.helpGroup(GROUPS[spec.group]);
  command.addOption(settingOption('data', 'directory', 'where the data lies'));
  command.option('--json', 'print JSON');
  spec.configure?.(command);
  // What commander hands over: the arguments, the options, the command itself.
  command.action(async (...given: unknown[]) => {
    const options = given.at(-2) as CommonOptions;
    const context = await contextOf(options, streams);
    onDone(await spec.run(context, options as never, given.slice(0, -2) as string[], command));
  });
}

function report(error: unknown, json: boolean, { stderr }: Streams): void {
  const { code, message } = isKnown(error) ? bodyOf(error) : { code: 'internal', message: stackOf(error) };
  if (json) {
    const details = error instanceof TurnlogError && error.details ? { details: error.details } : {};
    stderr.write(formatJson({ error: { code, message, ...details } }));
  } else {
    stderr.write(safeText(`turnlog: ${message} (${code})\n`));
  }
}

type SystemError = NodeJS.ErrnoException & { syscall: string };

/** What the system refuses (no permission, a read-only disk) needs no stack to be understood. */
function isKnown(error: unknown): error is TurnlogError | SystemError {
  return error instanceof TurnlogError || (error instanceof Error && 'syscall' in error);
}

function bodyOf(error: TurnlogError | SystemError): { code: string; message: string } {
  if (error instanceof TurnlogError) return error.toBody();
  return { code: error.code === 'ENOSPC' ? 'storage_full' : 'store_failed', message: error.message };
}

function reportUsage(error: CommanderError, complaint: string, json: boolean, { stderr }: Streams): void {
  if (!json) {
    stderr.write(safeText(complaint));
    return;
  }
  const message =
    error.code === 'commander.help' ? 'a command is missing' : error.message.replace(/^error: /, '');
  stderr.write(formatJson({ error: { code: 'invalid_argument', message } }));
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
