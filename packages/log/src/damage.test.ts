import { randomBytes } from 'node:crypto';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLog } from './open-log.ts';
import { classicStore } from './store.ts';
import { collect, failureOf, inDirectory } from './testing/directory.ts';

const clock = () => 1;

/** Text that cannot be compressed, so that it stands in the tables as it is. */
const saidAt = (seq: number) => ({
  type: 'said',
  data: { text: `marker-${seq}-${randomBytes(600).toString('base64')}` },
});

test('damage: a flipped byte in the middle is named by verify and by whoever reads it', () =>
  inDirectory(async (directory) => {
    const count = 20_000;
    let log = await openLog({ directory, clock });
    for (let first = 1; first <= count; first += 1000) {
      await log.append(
        's',
        Array.from({ length: 1000 }, (_, place) => saidAt(first + place)),
      );
    }
    await log.close();
    await flip(directory, 'marker-777-');
    await flip(directory, 'marker-3000-');

    log = await openLog({ directory, clock });
    const { problems, problemsTotal, events } = await log.verify();
    assert.equal(
      problems.map(({ seq, through, problem }) => [seq, through, problem]),
      [
        [777, 777, 'damaged'],
        [3000, 3000, 'damaged'],
      ],
    );
    assert.equal([problemsTotal, events], [2, count - 2]);
    for (const reading of [log.read({ from: 700, to: 800 }), log.readStream('s', { from: 770, limit: 20 })]) {
      const error = await failureOf(collect(reading));
      assert.equal([error.code, error.details?.seq], ['store_damaged', 777]);
    }
    assert.is((await collect(log.read({ from: 778, to: 2999 }))).length, 2222);
    assert.is((await log.append('s', [saidAt(count + 1)])).seq, count + 1);
    await log.close();
  }));

test('damage: a flipped byte in the tail refuses the opening and names the seq', () =>
  inDirectory(async (directory) => {
    let log = await openLog({ directory, clock });
    for (let seq = 1; seq <= 50; seq++) await log.append('s', [saidAt(seq)]);
    await log.close();
    // Opening moves what is in the .log into a table.
    log = await openLog({ directory, clock });
    await log.close();
    await flip(directory, 'marker-42-');
    const error = await failureOf(openLog({ directory, clock }));
    assert.equal([error.code, error.details?.seq], ['store_damaged', 42]);
  }));

test('damage: no flipped byte in the write-ahead log loses acknowledged events unseen', () =>
  inDirectory(async (directory) => {
    const original = join(directory, 'original');
    const log = await openLog({ directory: original, clock });
    for (let seq = 1; seq <= 120; seq++) await log.append('s', [saidAt(seq)]);
    await log.close();
    const name = (await readdir(join(original, 'log'))).find((each) => each.endsWith('.log')) ?? '';
    const { length } = await readFile(join(original, 'log', name));

    let refused = 0;
    for (let place = 1; place < 12; place++) {
      const copy = join(directory, `copy-${place}`);
      await cp(original, copy, { recursive: true });
      await flipAt(join(copy, 'log', name), Math.floor((length * place) / 12));
      // The second time LevelDB has replaced the damaged file; the loss must still be seen.
      for (let attempt = 1; attempt <= 2; attempt++) {
        const error = await failureOf(openLog({ directory: copy, clock }));
        assert.is(error.code, 'store_damaged');
        assert.type(error.details?.seq, 'number');
        refused += 1;
      }
    }
    assert.is(refused, 22);
  }));

test('damage: what cannot be decoded, is missing or lies under no seq is told apart', () =>
  inDirectory(async (directory) => {
    let log = await openLog({ directory, clock });
    const large = { type: 'said', data: 'x'.repeat(1_200_000) };
    // As large again as the tail that is looked at when opening, so that the damage comes before it.
    await log.append('s', [saidAt(1), large, saidAt(6), saidAt(7), saidAt(8), saidAt(9)]);
    for (let count = 0; count < 40; count++)
      await log.append('t', [{ type: 'said', data: 'y'.repeat(450_000) }]);
    const head = log.head();
    await log.close();

    const database = await classicStore(directory).open('log', 'existing');
    const key = (seq: number) => Buffer.from([0, 0, 0, 0, 0, 0, 0, seq]);
    await database.del(key(3));
    await database.del(key(6));
    await database.del(key(7));
    await database.put(key(9), Buffer.from('stray'));
    await database.put(Buffer.from([0, 0, 0, 0, 0, 0, 0, 8, 1]), Buffer.from('stray'));
    await database.close();

    log = await openLog({ directory, clock });
    const { problems } = await log.verify();
    assert.equal(
      problems.map(({ seq, through, problem }) => [seq, through, problem]),
      [
        [3, 3, 'missing'],
        [5, 5, 'damaged'],
        [6, 7, 'missing'],
        [9, 9, 'damaged'],
        [9, 9, 'damaged'],
      ],
    );
    assert.is(log.head(), head);
    const error = await failureOf(collect(log.read({ from: 5, limit: 1 })));
    assert.equal([error.code, error.details?.seq], ['store_damaged', 3]);
    await log.close();
  }));

/** Flips a byte just behind a text in one of the log's tables. */
async function flip(directory: string, text: string): Promise<void> {
  for (const name of await readdir(join(directory, 'log'))) {
    const path = join(directory, 'log', name);
    const at = name.endsWith('.ldb') ? (await readFile(path)).indexOf(text) : -1;
    if (at !== -1) return await flipAt(path, at + text.length);
  }
  throw new Error(`${text} is in no table`);
}

async function flipAt(path: string, place: number): Promise<void> {
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(place) ^ 0x10, place);
  await writeFile(path, bytes);
}

test.run();
