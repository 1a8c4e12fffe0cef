import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

interface Waiting {
  line: string;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * The floor: lines appended to one file, one fdatasync for all that gathered meanwhile. Nothing that keeps
 * events durably can do less, and it keeps no order of streams, no ids and no checksums.
 */
export class JsonlFloor {
  readonly #file: FileHandle;
  #waiting: Waiting[] = [];
  #isWriting = false;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(directory: string): Promise<JsonlFloor> {
    return new JsonlFloor(await open(join(directory, 'floor.jsonl'), 'a'));
  }

  append(event: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line: `${JSON.stringify(event)}\n`, resolve, reject });
      if (!this.#isWriting) void this.#write();
    });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#file.appendFile(group.map(({ line }) => line).join(''));
        await this.#file.datasync();
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#isWriting = false;
  }
}
