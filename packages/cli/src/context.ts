import { join } from 'node:path';
import envPaths from 'env-paths';
import { type Colours, coloursFor } from './terminal/colours.ts';
import { formatJson } from './terminal/json.ts';

export interface Streams {
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
}

/** What every command is given. */
export interface Context extends Streams {
  dataDirectory: string;
  json: boolean;
  colours: Colours;
  /** The columns of the terminal; undefined where the output goes elsewhere and nothing is cut. */
  width: number | undefined;
}

/** The options that every command takes. */
export interface CommonOptions {
  data?: string;
  json?: boolean;
}

export function contextOf(options: CommonOptions, streams: Streams): Context {
  const { stdout, env } = streams;
  return {
    ...streams,
    dataDirectory: options.data ?? dataDirectoryFrom(env),
    json: options.json ?? false,
    colours: coloursFor(stdout, env),
    width: stdout.isTTY ? stdout.columns : undefined,
  };
}

/** Where the data lies unless a command says otherwise. */
function dataDirectoryFrom(env: Context['env']): string {
  const { TURNLOG_DATA } = env;
  return TURNLOG_DATA !== undefined && TURNLOG_DATA !== ''
    ? TURNLOG_DATA
    : join(envPaths('turnlog', { suffix: '' }).data);
}

/** The result as JSON where that is asked for, else in words. */
export function print(context: Context, value: unknown, inWords: () => string): void {
  context.stdout.write(context.json ? formatJson(value) : inWords());
}
