import { resolveSettings, type Settings } from './settings.ts';
import { type Colours, coloursFor } from './terminal/colours.ts';
import { formatJson } from './terminal/json.ts';

export interface Streams {
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  env: Readonly<Record<string, string | undefined>>;
}

/** What every command is given. */
export interface Context extends Streams {
  dataDirectory: string;
  /** Every setting and where it comes from. */
  settings: Settings;
  json: boolean;
  colours: Colours;
  /** The columns of the terminal; undefined where the output goes elsewhere and nothing is cut. */
  width: number | undefined;
}

/** The options that every command takes, and those that set something. */
export interface CommonOptions {
  data?: string;
  json?: boolean;
  host?: string;
  port?: number;
  logLevel?: string;
}

/** @throws CliError `invalid_argument` where the environment or the configuration file is wrong */
export async function contextOf(options: CommonOptions, streams: Streams): Promise<Context> {
  const { stdout, env } = streams;
  const { json = false, data, host, port, logLevel } = options;
  const settings = await resolveSettings(
    {
      ...(data !== undefined && { data }),
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      ...(logLevel !== undefined && { logLevel }),
    },
    env,
  );
  return {
    ...streams,
    dataDirectory: settings.data.value,
    settings,
    json,
    colours: coloursFor(stdout, env),
    // A terminal that does not know its width says 0.
    width: (stdout.isTTY && stdout.columns) || undefined,
  };
}

/** The result as JSON where that is asked for, else in words. */
export function print(context: Context, value: unknown, inWords: () => string): void {
  context.stdout.write(context.json ? formatJson(value) : inWords());
}

/** Writes, and waits where the reader is slower. */
export async function write({ stdout }: Context, text: string): Promise<void> {
  if (!stdout.write(text)) await new Promise((resolve) => stdout.once('drain', resolve));
}
