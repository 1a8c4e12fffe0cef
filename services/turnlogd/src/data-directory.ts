import { createHmac, randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf } from '@turnlog/events';
import { type FileSystem, writeFileDurably } from '@turnlog/log';
import { Tokens } from './access/tokens.ts';

const OWNER_ONLY = 0o600;
const SECRET_BYTES = 32;

/**
 * The files of a data directory beside its databases. Each is written whole and renamed into place, so
 * that after a crash it is there as it was or as it should be.
 */
export class DataDirectory {
  readonly #fileSystem: FileSystem;

  constructor(
    readonly path: string,
    fileSystem: FileSystem,
  ) {
    this.#fileSystem = fileSystem;
  }

  /** Makes the directory; nobody but its owner may look into it. */
  async create(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await chmod(this.path, 0o700);
  }

  /** The token that callers send; made at the first call. */
  async token(): Promise<string> {
    return await this.#secretFile('token');
  }

  /** The tokens that callers may show: that one, and those that were made for others. */
  async openTokens(clock: () => number): Promise<Tokens> {
    return await Tokens.open({
      fileSystem: this.#fileSystem,
      path: join(this.path, 'tokens.json'),
      ownToken: await this.token(),
      clock,
    });
  }

  /** Proves the ownership of a bridge to whoever opened it, without anything secret in the log. */
  async ownerTokens(): Promise<(bridgeId: string, since: number) => string> {
    const secret = await this.#secretFile('secret');
    return (bridgeId, since) =>
      createHmac('sha256', secret).update(`owner\0${since}\0${bridgeId}`).digest('base64url');
  }

  /** Says where the daemon is found, and which process it is. */
  async writeAddress(address: {
    addresses: string[];
    /** The path of the Unix socket. */
    socket?: string;
    version: string;
    since: number;
  }): Promise<void> {
    await this.#write('daemon.json', `${JSON.stringify({ ...identityOf(process.pid), ...address })}\n`);
  }

  async removeAddress(): Promise<void> {
    await unlink(join(this.path, 'daemon.json')).catch(ignoreMissing);
  }

  async #secretFile(name: string): Promise<string> {
    const known = await readFile(join(this.path, name), 'utf8').catch(ignoreMissing);
    if (known !== undefined && known.trim() !== '') return known.trim();
    const made = randomBytes(SECRET_BYTES).toString('base64url');
    await this.#write(name, `${made}\n`);
    return made;
  }

  async #write(name: string, content: string): Promise<void> {
    await writeFileDurably(this.#fileSystem, join(this.path, name), content, { mode: OWNER_ONLY });
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
