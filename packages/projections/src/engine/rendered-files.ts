import { basename, dirname, join, relative, sep } from 'node:path';
import { assert } from '@turnlog/events';
import { type FileSystem, syncDirectory, writeFileDurably } from '@turnlog/log';
import { causeCodes } from '../errors.ts';

const TEMPORARY = /^(?<file>.+)\.\d+-\d+\.tmp$/su;
/** Conversations are for their owner alone. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/**
 * The files in the data directory that show what the tables hold. Each is replaced as a whole: after a crash
 * it is the old one or the new one, and a temporary file may lie beside it. The mark of such a file is still
 * there, so its leftovers are swept when it is next written; nobody else's temporary files are touched.
 */
export class RenderedFiles {
  readonly #fileSystem: FileSystem;
  readonly #dataDirectory: string;
  /** By directory, then by file: the temporary files that lay there before this process wrote its first. */
  readonly #leftovers = new Map<string, Promise<Map<string, string[]>>>();

  constructor(fileSystem: FileSystem, dataDirectory: string) {
    this.#fileSystem = fileSystem;
    this.#dataDirectory = dataDirectory;
  }

  /** Makes the file hold exactly `content`, for good; without content there is no file. */
  async show(file: string, content: string | undefined): Promise<void> {
    const path = this.#pathOf(file);
    if (content === undefined) {
      await this.#sweep(path);
      await this.#remove(path);
      return;
    }
    await this.#makeDirectory(dirname(path));
    await this.#sweep(path);
    await writeFileDurably(this.#fileSystem, path, content, { mode: FILE_MODE });
  }

  /** Whether the file holds exactly `content`, or is not there where there must be none. */
  async shows(file: string, content: string | undefined): Promise<boolean> {
    try {
      const found = await ignoringMissing(this.#fileSystem.readFile(this.#pathOf(file)));
      if (found === undefined || content === undefined) return found === content;
      return found.equals(Buffer.from(content));
    } catch (error) {
      // A directory in its place shows nothing.
      if (causeCodes(error).includes('EISDIR')) return false;
      throw error;
    }
  }

  #pathOf(file: string): string {
    const inside = file
      .split('/')
      .every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
    assert(
      inside && (sep === '/' || !file.includes(sep)),
      `a file lies in the data directory: ${JSON.stringify(file)}`,
    );
    return join(this.#dataDirectory, ...file.split('/'));
  }

  async #makeDirectory(directory: string): Promise<void> {
    const first = await this.#fileSystem.mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
    if (first === undefined) return;
    // Every directory made is an entry in the one above it, which must reach the disk too.
    for (let above = dirname(directory); ; above = dirname(above)) {
      await syncDirectory(this.#fileSystem, above);
      if (relative(above, dirname(first)) === '' || above === dirname(above)) return;
    }
  }

  /** One that is not there may have been taken away by a try that did not get as far as the directory. */
  async #remove(path: string): Promise<void> {
    await ignoringMissing(this.#fileSystem.unlink(path));
    await ignoringMissing(syncDirectory(this.#fileSystem, dirname(path)));
  }

  async #sweep(path: string): Promise<void> {
    const directory = dirname(path);
    const leftovers = await this.#leftoversIn(directory);
    const ofFile = leftovers.get(basename(path));
    if (ofFile === undefined) return;
    for (const name of ofFile) await this.#fileSystem.rm(join(directory, name), { force: true });
    leftovers.delete(basename(path));
  }

  #leftoversIn(directory: string): Promise<Map<string, string[]>> {
    let leftovers = this.#leftovers.get(directory);
    if (leftovers === undefined) {
      leftovers = this.#listTemporaryFiles(directory);
      this.#leftovers.set(directory, leftovers);
      leftovers.catch(() => this.#leftovers.delete(directory));
    }
    return leftovers;
  }

  async #listTemporaryFiles(directory: string): Promise<Map<string, string[]>> {
    const byFile = new Map<string, string[]>();
    for (const name of (await ignoringMissing(this.#fileSystem.readdir(directory))) ?? []) {
      const file = TEMPORARY.exec(name)?.groups?.file;
      if (file !== undefined) byFile.set(file, [...(byFile.get(file) ?? []), name]);
    }
    return byFile;
  }
}

/** Undefined where what was asked for is not there. */
async function ignoringMissing<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (causeCodes(error).includes('ENOENT')) return undefined;
    throw error;
  }
}
