import type { UserDataFileSystem } from '../migration/user-data.ts';

/** A user-data directory in memory, at `/data`: the content of its files by their relative names. */
export class MemoryUserData implements UserDataFileSystem {
  readonly #files: ReadonlyMap<string, Uint8Array>;
  /** Names that answer with this error code. */
  readonly failing = new Map<string, string>();
  /** Sizes to claim, whatever the content. */
  readonly sizes = new Map<string, number>();

  constructor(files: Record<string, string | Uint8Array | object>) {
    this.#files = new Map(
      Object.entries(files).map(([name, content]) => [
        name,
        content instanceof Uint8Array ? content : bytesOf(content),
      ]),
    );
  }

  async readdir(path: string): Promise<string[]> {
    const directory = this.#relative(path);
    const prefix = directory === '' ? '' : `${directory}/`;
    const names = [...this.#files.keys()].filter((name) => name.startsWith(prefix));
    if (names.length === 0 && directory !== '') throw systemError('ENOENT', path);
    return [...new Set(names.map((name) => name.slice(prefix.length).split('/')[0] as string))];
  }

  async stat(path: string): Promise<{ size: number; isFile(): boolean }> {
    const name = this.#relative(path);
    const content = this.#files.get(name);
    if (content !== undefined) return { size: this.sizes.get(name) ?? content.length, isFile: () => true };
    await this.readdir(path);
    return { size: 0, isFile: () => false };
  }

  async readFile(path: string): Promise<Uint8Array> {
    const content = this.#files.get(this.#relative(path));
    if (content === undefined) throw systemError('ENOENT', path);
    return content;
  }

  #relative(path: string): string {
    const name = path.replace(/^\/data\/?/, '');
    const code = this.failing.get(name);
    if (code !== undefined) throw systemError(code, path);
    return name;
  }
}

function bytesOf(content: string | object): Uint8Array {
  return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
