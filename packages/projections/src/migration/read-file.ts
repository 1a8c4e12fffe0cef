import { join } from 'node:path';
import { USER_DATA_FILE_BYTES_MAX, type UserDataFileSystem, type UserDataProblem } from './user-data.ts';

/** A file's place in the directory that is read, and where what is wrong with it is noted. */
export interface UserDataReader {
  fileSystem: UserDataFileSystem;
  directory: string;
  problems: UserDataProblem[];
}

export type FileContent = { bytes: Uint8Array } | 'absent' | 'unreadable';

/** Reads a file that may be absent. One that cannot be read is noted as a problem. */
export async function readFile(reader: UserDataReader, file: string): Promise<FileContent> {
  const path = join(reader.directory, file);
  try {
    const { size, isFile } = await statOf(reader, path);
    if (!isFile) return refuse(reader, file, 'is not a regular file');
    if (size > USER_DATA_FILE_BYTES_MAX) {
      return refuse(reader, file, `is larger than ${USER_DATA_FILE_BYTES_MAX} bytes`);
    }
    return { bytes: await reader.fileSystem.readFile(path) };
  } catch (error) {
    return isAbsent(error) ? 'absent' : refuse(reader, file, `cannot be read (${codeOf(error)})`);
  }
}

/** The names in a directory that may be absent, sorted, so that every run takes them in the same order. */
export async function readNames(
  reader: UserDataReader,
  directory: string,
): Promise<string[] | 'absent' | 'unreadable'> {
  try {
    return (await reader.fileSystem.readdir(join(reader.directory, directory))).sort();
  } catch (error) {
    return isAbsent(error) ? 'absent' : refuse(reader, directory, `cannot be read (${codeOf(error)})`);
  }
}

export type JsonContent = { value: unknown } | 'absent' | 'unreadable';

/**
 * Reads a file of JSON. Bytes that are no UTF-8 are read as CrewCode reads them, as U+FFFD, and noted.
 * `JSON.parse` makes a key such as `__proto__` an own property, so what it gives is safe to walk through.
 */
export async function readJson(reader: UserDataReader, file: string): Promise<JsonContent> {
  const content = await readFile(reader, file);
  if (typeof content === 'string') return content;
  if (content.bytes.length === 0) return refuse(reader, file, 'is empty');
  const text = new TextDecoder().decode(content.bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(reader, file, 'is not valid JSON: it is cut off or damaged');
  }
  if (!isUtf8(content.bytes)) {
    reader.problems.push({ file, reason: 'holds bytes that are no UTF-8; they were read as U+FFFD' });
  }
  return { value };
}

/** An own property of what `JSON.parse` gave, or undefined. */
export function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

async function statOf(reader: UserDataReader, path: string): Promise<{ size: number; isFile: boolean }> {
  const stat = await reader.fileSystem.stat(path);
  return { size: stat.size, isFile: stat.isFile() };
}

function refuse(reader: UserDataReader, file: string, reason: string): 'unreadable' {
  reader.problems.push({ file, reason });
  return 'unreadable';
}

/** Only the code: the message of a file system's error holds the whole path. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}

function isAbsent(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}
