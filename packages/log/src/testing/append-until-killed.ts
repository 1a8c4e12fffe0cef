import { writeSync } from 'node:fs';
import { openLog } from '../open-log.ts';

/** Appends with eight writers until it is killed, and prints `<id> <seq>` for each acknowledged event. */
const [directory = '', round = ''] = process.argv.slice(2);
const log = await openLog({ directory, clock: Date.now });

async function write(writer: number): Promise<void> {
  for (let count = 1; ; count++) {
    const id = `${round}-${writer}-${count}`;
    const text = 'x'.repeat(count % 50 === 0 ? 700_000 : 500);
    const { seq } = await log.append(`s${writer}`, [{ id, type: 'said', data: { text, id } }]);
    writeSync(1, `${id} ${seq}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
