import type { CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { addServeOptions } from '../options.ts';
import { SETTINGS, type Setting, type SettingName } from '../settings.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { formatTable } from '../terminal/table.ts';

export const configCommand: CommandSpec<object> = {
  name: 'config',
  group: 'read',
  description: 'every setting and where it comes from',
  configure: addServeOptions,
  run: config,
};

async function config(context: Context): Promise<number> {
  const { settings, width } = context;
  const { path, exists } = settings.file;
  const names = Object.keys(SETTINGS) as SettingName[];
  const found = Object.fromEntries(names.map((name) => [name, settings[name]]));
  print(context, { file: { path, exists }, settings: found }, () => {
    const table = formatTable(
      [{ title: 'SETTING' }, { title: 'VALUE', shrinks: true }, { title: 'FROM', shrinks: true }],
      names.map((name) => [name, String(settings[name].value), originOf(settings[name])]),
      { width },
    );
    return `${table}\nconfiguration file: ${safeLine(path)}${exists ? '' : ' (not there)'}\n`;
  });
  return EXIT.ok;
}

function originOf({ from, name }: Setting<unknown>): string {
  return name === undefined ? from : `${from} ${name}`;
}
