import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { defaultDataDirectory } from '@turnlog/client';
import { DEFAULT_HOST, DEFAULT_LOG_LEVEL, DEFAULT_PORT, LOG_LEVELS } from '@turnlog/turnlogd';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import { CliError } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A value and where it comes from: what is named first here wins. */
export interface Setting<Value> {
  value: Value;
  from: 'flag' | 'environment' | 'file' | 'default';
  /** The flag, the variable or the file. */
  name?: string;
}

interface Values {
  data: string;
  host: string;
  port: number;
  logLevel: string;
}

export type SettingName = keyof Values;
export type Settings = { [Name in SettingName]: Setting<Values[Name]> } & { file: ConfigFile };

interface Definition<Value> {
  flag: string;
  variable: string;
  /** Completes "it must be …". */
  expected: string;
  /** How the configuration file holds it. */
  json: 'string' | 'number';
  /** @param base what a relative path is relative to */
  parse(text: string, base: string): Value | undefined;
  standard(): Value;
}

export const SETTINGS: { readonly [Name in SettingName]: Definition<Values[Name]> } = {
  data: {
    flag: '--data',
    variable: 'TURNLOG_DATA',
    expected: 'the path of a directory',
    json: 'string',
    parse: (text, base) => (text === '' ? undefined : resolve(base, text.replace(/^~(?=\/|$)/, homedir()))),
    standard: () => defaultDataDirectory({}),
  },
  host: {
    flag: '--host',
    variable: 'TURNLOG_HOST',
    expected: 'an address to listen on, such as 127.0.0.1',
    json: 'string',
    parse: (text) => (/^[\w.:%-]{1,255}$/.test(text) ? text : undefined),
    standard: () => DEFAULT_HOST,
  },
  port: {
    flag: '--port',
    variable: 'TURNLOG_PORT',
    expected: 'a whole number from 0 to 65535',
    json: 'number',
    parse: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
    standard: () => DEFAULT_PORT,
  },
  logLevel: {
    flag: '--log-level',
    variable: 'TURNLOG_LOG_LEVEL',
    expected: `one of ${LOG_LEVELS.join(', ')}`,
    json: 'string',
    parse: (text) => (LOG_LEVELS.includes(text) ? text : undefined),
    standard: () => DEFAULT_LOG_LEVEL,
  },
};

const NAMES = Object.keys(SETTINGS) as SettingName[];

/**
 * Every setting: the flag wins over the environment, that over the file, that over what is built in.
 * @param flags as the command line has them, parsed
 * @throws CliError `invalid_argument`, naming the variable or the file that is wrong
 */
export async function resolveSettings(flags: Partial<Values>, environment: Environment): Promise<Settings> {
  const file = await readConfigFile(environment);
  for (const key of Object.keys(file.values)) {
    if ((NAMES as string[]).includes(key)) continue;
    throw invalid(`${file.path}: "${key}" is no setting; the settings are ${NAMES.join(', ')}`);
  }
  const settingOf = <Name extends SettingName>(name: Name): Setting<Values[Name]> => {
    const definition = SETTINGS[name];
    const flag = flags[name];
    if (flag !== undefined) return { value: flag, from: 'flag', name: definition.flag };
    return (
      fromEnvironment(definition, environment) ??
      fromFile(definition, name, file) ?? { value: definition.standard(), from: 'default' }
    );
  };
  return {
    data: settingOf('data'),
    host: settingOf('host'),
    port: settingOf('port'),
    logLevel: settingOf('logLevel'),
    file,
  };
}

/** A variable that is set and empty counts as not set. */
function fromEnvironment<Value>(
  { variable, expected, parse }: Definition<Value>,
  environment: Environment,
): Setting<Value> | undefined {
  const text = environment[variable];
  if (text === undefined || text === '') return undefined;
  const value = parse(text, process.cwd());
  if (value === undefined) throw invalid(`${variable} must be ${expected}; it is "${text}"`);
  return { value, from: 'environment', name: variable };
}

function fromFile<Value>(
  { expected, json, parse }: Definition<Value>,
  name: SettingName,
  file: ConfigFile,
): Setting<Value> | undefined {
  const found = file.values[name];
  if (found === undefined) return undefined;
  const value = typeof found === json ? parse(String(found), join(file.path, '..')) : undefined;
  if (value === undefined) {
    throw invalid(`${file.path}: "${name}" must be ${expected}; it is ${JSON.stringify(found)}`);
  }
  return { value, from: 'file', name: file.path };
}

function invalid(message: string): CliError {
  return new CliError('invalid_argument', message);
}
