import { parseArgs } from 'node:util';
import { benchDurableAppend } from './durable-append.ts';
import { type Figure, toJson, toTable } from './report.ts';

const BENCHES: Readonly<Record<string, () => Promise<Figure[]>>> = {
  'durable-append': benchDurableAppend,
};

const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'boolean' } } });
const names = Object.keys(BENCHES).filter((name) => values.only === undefined || name === values.only);
if (names.length === 0) {
  process.stderr.write(`there is no bench of this name; there are ${Object.keys(BENCHES).join(', ')}\n`);
  process.exit(64);
}
const figures: Figure[] = [];
for (const name of names) figures.push(...((await BENCHES[name]?.()) ?? []));
process.stdout.write(values.json ? toJson(figures) : toTable(figures));
