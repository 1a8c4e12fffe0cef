import { once } from 'node:events';
import { serve } from '@turnlog/turnlogd';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

export interface ServeCommandOptions {
  host?: string;
  port?: number;
  logLevel?: string;
}

/** Runs the daemon until it is asked to stop; a second signal ends it at once. */
export async function serveCommand(context: Context, options: ServeCommandOptions): Promise<number> {
  const { dataDirectory, stdout, colours } = context;
  const running = await serve({ dataDirectory, ...options });
  const data = safeLine(dataDirectory);
  stdout.write(
    [
      `${colours.bold('turnlog')} listens on ${colours.cyan(running.url)}`,
      `its data is in ${data}, the token that callers send in ${data}/token`,
      '',
      'Try, in another terminal (here each command begins with "npx -y pnpm@10"):',
      '  turnlog status',
      '  turnlog migrate ~/.config/crewcode --dry-run',
      '  turnlog log --follow',
      '',
    ]
      .map((line) => `${line}\n`)
      .join(''),
  );
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  await Promise.race(signals.map((signal) => once(process, signal)));
  for (const signal of signals) process.once(signal, () => process.exit(EXIT.failed));
  await running.stop();
  return EXIT.ok;
}
