import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import envPaths from 'env-paths';
import { CliError } from './errors.ts';

const FILE_BYTES_MAX = 64 * 1024;

export interface ConfigFile {
  path: string;
  /** Whether it is there; where nobody asked for it, it need not be. */
  exists: boolean;
  /** As they are in the file, not checked yet. */
  values: Readonly<Record<string, unknown>>;
}

/**
 * Reads `config.json` of turnlog's configuration directory, or the file that `TURNLOG_CONFIG` names.
 * @throws CliError `invalid_argument` where it is no JSON object, or was named and is not there
 */
export async function readConfigFile(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ConfigFile> {
  const { TURNLOG_CONFIG = '' } = environment;
  const isNamed = TURNLOG_CONFIG !== '';
  const path = isNamed
    ? resolve(TURNLOG_CONFIG)
    : join(envPaths('turnlog', { suffix: '' }).config, 'config.json');
  const text = await readText(path);
  if (text !== undefined) return { path, exists: true, values: parseValues(path, text) };
  if (isNamed) throw new CliError('invalid_argument', `TURNLOG_CONFIG names ${path}, and there is no file`);
  return { path, exists: false, values: {} };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > FILE_BYTES_MAX) throw new CliError('too_large', `${path} is over ${FILE_BYTES_MAX} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError('invalid_argument', `${path} cannot be read (${code})`, undefined, { cause: error });
  }
}

function parseValues(path: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { message } = error as SyntaxError;
    throw new CliError('invalid_argument', `${path} is no JSON: ${message}`, undefined, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CliError('invalid_argument', `${path} must hold one JSON object, such as {"port": 7717}`);
  }
  return value as Record<string, unknown>;
}
