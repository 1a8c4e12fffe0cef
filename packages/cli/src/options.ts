import { type Command, InvalidArgumentError, Option } from 'commander';
import { SETTINGS, type SettingName } from './settings.ts';

/** `--data`, `--host` and the others that set something: checked alike wherever they are given. */
export function settingOption(name: SettingName, placeholder: string, description: string): Option {
  const { flag, variable, expected, parse } = SETTINGS[name];
  return new Option(
    `${flag} <${placeholder}>`,
    `${description} (else ${variable}, else the configuration)`,
  ).argParser((text) => {
    const value = parse(text, process.cwd());
    if (value === undefined) throw new InvalidArgumentError(`It must be ${expected}.`);
    return value;
  });
}

/** Adds what sets where the daemon listens and what it says. */
export function addServeOptions(command: Command): Command {
  return command
    .addOption(settingOption('host', 'address', 'the address to listen on'))
    .addOption(settingOption('port', 'number', 'the port to listen on, 0 for a free one'))
    .addOption(
      settingOption('logLevel', 'level', 'how much the daemon says of itself: error, warn, info, debug'),
    );
}

export function seqOf(text: string): number {
  const seq = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (seq < 1) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return seq;
}
