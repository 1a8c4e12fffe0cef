import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One way in which a database's directory can be damaged. */
export interface Damage {
  title: string;
  /** @param directory that of the database */
  apply(directory: string): Promise<void>;
}

const FLIPS_PER_FILE = 8;

/** Bytes flipped all over each kind of file, files cut, files gone. */
export function damagesOf(kinds = ['.ldb', '.log', 'MANIFEST-', 'CURRENT']): Damage[] {
  const flips = kinds.flatMap((kind) =>
    Array.from({ length: FLIPS_PER_FILE }, (_, place): Damage => {
      // From the first byte to the last.
      const share = place / (FLIPS_PER_FILE - 1);
      return {
        title: `a byte flipped at ${Math.round(share * 100)} % of ${kind}`,
        apply: (directory) => flip(directory, kind, share),
      };
    }),
  );
  return [
    ...flips,
    ...[1, 7, 400, 1_000_000].map(
      (bytes): Damage => ({
        title: `.log cut by ${bytes}`,
        apply: async (directory) => cut(await fileIn(directory, '.log'), bytes),
      }),
    ),
    ...kinds.map(
      (kind): Damage => ({ title: `${kind} gone`, apply: (directory) => remove(directory, kind) }),
    ),
    { title: 'everything gone', apply: (directory) => rm(directory, { recursive: true }) },
    {
      title: 'the MANIFEST cut by 7',
      apply: async (directory) => cut(await fileIn(directory, 'MANIFEST-'), 7),
    },
    {
      title: 'CURRENT without its newline',
      apply: async (directory) => cut(await fileIn(directory, 'CURRENT'), 1),
    },
    {
      title: 'a table cut to nothing',
      apply: async (directory) => truncate(await fileIn(directory, '.ldb'), 0),
    },
    {
      title: 'a table cut to its half',
      apply: async (directory) => {
        const path = await fileIn(directory, '.ldb');
        await cut(path, Math.floor((await readFile(path)).length / 2));
      },
    },
  ];
}

async function fileIn(directory: string, kind: string): Promise<string> {
  const name = (await readdir(directory)).find((each) => each.startsWith(kind) || each.endsWith(kind));
  if (name === undefined) throw new Error(`there is no ${kind} in ${directory}`);
  return join(directory, name);
}

async function flip(directory: string, kind: string, share: number): Promise<void> {
  const path = await fileIn(directory, kind);
  const bytes = await readFile(path);
  const place = Math.round(share * (bytes.length - 1));
  bytes.writeUInt8(bytes.readUInt8(place) ^ 0x10, place);
  await writeFile(path, bytes);
}

async function cut(path: string, bytes: number): Promise<void> {
  const { length } = await readFile(path);
  await truncate(path, Math.max(0, length - bytes));
}

async function remove(directory: string, kind: string): Promise<void> {
  await rm(await fileIn(directory, kind));
}
