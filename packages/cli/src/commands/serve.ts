import { once } from 'node:events';
import { resolve } from 'node:path';
import { type MigrationReport, serve, serviceManagerOf } from '@turnlog/turnlogd';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { addServeOptions } from '../options.ts';
import { formatCount } from '../terminal/human.ts';
import { safeLine } from '../terminal/safe-text.ts';

interface ServeCommandOptions {
  migrateFrom?: string;
}

export const serveCommand: CommandSpec<ServeCommandOptions> = {
  name: 'serve',
  group: 'daemon',
  description: 'run the daemon',
  configure: (command) =>
    addServeOptions(command).option(
      '--migrate-from <userdata>',
      "on the first start, while the log is empty, bring in CrewCode's user-data directory",
    ),
  run: runDaemon,
};

/** Runs the daemon until it is asked to stop; a second signal ends it at once. */
async function runDaemon(context: Context, { migrateFrom }: ServeCommandOptions): Promise<number> {
  const { dataDirectory, stdout, stderr, env, colours } = context;
  const serviceManager = serviceManagerOf(process.env, {
    onFailure: ({ message }) => stderr.write(`turnlog: ${safeLine(message)}\n`),
  });
  const { host, port, logLevel } = context.settings;
  const running = await serve({
    dataDirectory,
    host: host.value,
    port: port.value,
    logLevel: logLevel.value,
    runtimeDirectory: context.env.XDG_RUNTIME_DIR,
    ...(migrateFrom !== undefined && { migrateFrom: resolve(migrateFrom) }),
  });
  if (running.migrated !== undefined) stdout.write(migratedInWords(context, running.migrated));
  const data = safeLine(dataDirectory);
  const { from } = context.settings.data;
  const onData = from === 'flag' || from === 'environment' ? ` --data ${JSON.stringify(dataDirectory)}` : '';
  const inWorkspace = env.npm_package_name === 'turnlog-workspace';
  stdout.write(
    [
      `${colours.bold('turnlog')} listens on ${colours.cyan(running.url)}`,
      `its data is in ${data}, the token that callers send in ${data}/token`,
      '',
      `Try, in another terminal${inWorkspace ? ' (here each command begins with "npx -y pnpm@10")' : ''}:`,
      `  turnlog status${onData}`,
      `  turnlog migrate ~/.config/crewcode --dry-run${onData}`,
      `  turnlog log --follow${onData}`,
      '',
    ]
      .map((line) => `${line}\n`)
      .join(''),
  );
  void serviceManager.ready(`listens on ${running.url}`);
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  await Promise.race(signals.map((signal) => once(process, signal)));
  for (const signal of signals) process.once(signal, () => process.exit(EXIT.failed));
  void serviceManager.stopping();
  await running.stop();
  return EXIT.ok;
}

/** What came in at the first start; what did not is told in full by `turnlog migrate`. */
function migratedInWords(
  { colours }: Context,
  { outcomes, problems, failed, completed }: MigrationReport,
): string {
  const broughtIn = formatCount(outcomes.conversation.broughtIn, 'conversation');
  const notIn = problems.length + failed.length;
  const rest =
    completed === 'no' || notIn > 0
      ? colours.red(`; ${formatCount(notIn, 'problem')}, see "turnlog migrate <userdata> --dry-run"`)
      : '';
  return `brought in ${broughtIn}${rest}\n`;
}
