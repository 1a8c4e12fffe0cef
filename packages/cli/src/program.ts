import { TurnlogError } from '@turnlog/events';
import { VERSION } from '@turnlog/turnlogd';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { conversationsCommand } from './commands/conversations.ts';
import { logCommand } from './commands/log.ts';
import { migrateCommand } from './commands/migrate.ts';
import { rebuildCommand } from './commands/rebuild.ts';
import { serveCommand } from './commands/serve.ts';
import { showCommand } from './commands/show.ts';
import { statusCommand } from './commands/status.ts';
import { type CommonOptions, type Context, contextOf, type Streams } from './context.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { formatJson } from './terminal/json.ts';
import { safeText } from './terminal/safe-text.ts';

/** Runs the command line and answers its exit status. */
export async function run(arguments_: readonly string[], streams: Streams): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = createProgram(streams, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...arguments_], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    report(error, arguments_.includes('--json'), streams);
    return exitCodeOf(error);
  }
}

function createProgram(streams: Streams, onDone: (exitCode: number) => void): Command {
  const program = new Command('turnlog')
    .description('Keeps the conversations of AI agents: every turn an event in an append-only log.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('Run "turnlog help" for the commands.')
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: (text) => streams.stderr.write(safeText(text)),
    });

  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--data <directory>', 'where the data lies (else TURNLOG_DATA, else a place in your home)')
      .option('--json', 'print JSON');
  /** What commander hands over: the arguments, the options, the command itself. */
  const action =
    (task: (context: Context, options: never, ...rest: string[]) => Promise<number>) =>
    async (...given: unknown[]) => {
      const options = given.at(-2) as CommonOptions;
      onDone(await task(contextOf(options, streams), options as never, ...(given.slice(0, -2) as string[])));
    };

  command('serve', 'run the daemon')
    .option('--host <address>', 'the address to listen on (127.0.0.1)')
    .option('--port <number>', 'the port to listen on, 0 for a free one (7717)', portOf)
    .option('--log-level <level>', 'how much the daemon says of itself: error, warn, info, debug', levelOf)
    .action(action(serveCommand));
  command('status', 'what the daemon or the directory holds').action(
    action((context) => statusCommand(context)),
  );
  command('migrate', 'bring in the conversations of CrewCode')
    .argument('<userdata>', "CrewCode's user-data directory, such as ~/.config/crewcode")
    .option('--dry-run', 'only say what would be brought in')
    .action(action((context, options, directory = '') => migrateCommand(context, directory, options)));
  command('conversations', 'list the conversations')
    .option('--prefix <text>', 'only keys that begin with this')
    .option('--provider <name>', 'only those that this provider spoke in last')
    .option('--text <text>', 'only those that hold this text')
    .action(
      action((context, { prefix, provider, text }: { prefix?: string; provider?: string; text?: string }) =>
        conversationsCommand(context, {
          ...(prefix !== undefined && { prefix }),
          ...(provider !== undefined && { provider }),
          ...(text !== undefined && { text }),
        }),
      ),
    );
  command('show', 'show a conversation')
    .argument('<key>', 'its key, such as thread:<session>')
    .option('--at <seq|time>', 'as it was at this seq of the log or at this time (ISO 8601)')
    .action(action((context, options, key = '') => showCommand(context, key, options)));
  command('log', 'list the events of the log')
    .option('--from <seq>', 'begin at this seq (1)', seqOf)
    .option('--follow', 'go on as events come')
    .action(action(logCommand));
  command('rebuild', 'build the projections anew from the log')
    .option('--check', 'change nothing, say whether they equal what would be built')
    .action(action(rebuildCommand));
  return program;
}

function report(error: unknown, json: boolean, { stderr }: Streams): void {
  const isKnown = error instanceof TurnlogError;
  if (json) {
    const body = isKnown ? error.toBody() : { code: 'internal', message: String(error) };
    stderr.write(formatJson({ error: body }));
  } else {
    stderr.write(
      safeText(isKnown ? `turnlog: ${error.message} (${error.code})\n` : `turnlog: ${stackOf(error)}\n`),
    );
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('It must be a number from 0 to 65535.');
  return port;
}

function seqOf(text: string): number {
  const seq = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (seq < 1) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return seq;
}

const LOG_LEVELS = ['error', 'warn', 'info', 'debug'];

function levelOf(text: string): string {
  if (!LOG_LEVELS.includes(text))
    throw new InvalidArgumentError(`It must be one of ${LOG_LEVELS.join(', ')}.`);
  return text;
}
