/*
 * The list of cleared conversations fails closed. It is a JSON array of strings which CrewCode rewrites in
 * place, so a crash leaves its beginning: whole entries count, and of the entry at which it was cut every
 * key that begins so must be taken for the cleared one. Where nothing of an entry is left it could be any
 * key. Entries that were lost after the cut cannot be known.
 */
import type { ClearedList } from './user-data.ts';

export interface ParsedClearedList extends ClearedList {
  /** What is wrong with the list, where something is. */
  damage?: string;
}

export function parseClearedList(bytes: Uint8Array): ParsedClearedList {
  if (bytes.length === 0) return nothingReadable('is empty');
  const { text, rest } = decodeBeginning(bytes);
  if (rest === 0) {
    const whole = parseWhole(text);
    if (whole !== undefined) return whole;
  }
  return parseBeginning(text);
}

function nothingReadable(damage: string): ParsedClearedList {
  return { keys: [], unknownEntry: true, damage };
}

function parseWhole(text: string): ParsedClearedList | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return nothingReadable('is not a list');
  const keys = value.filter((entry): entry is string => typeof entry === 'string');
  if (keys.length === value.length) return { keys, unknownEntry: false };
  return {
    keys,
    unknownEntry: true,
    damage: `holds ${value.length - keys.length} entries that are no strings`,
  };
}

/** Reads the entries one by one, up to where the list stops being a JSON array of strings. */
function parseBeginning(text: string): ParsedClearedList {
  let place = afterSpace(text, 0);
  if (text[place] !== '[') return nothingReadable('is not the beginning of a list');
  const keys: string[] = [];
  const damaged = (what: string) => `${what} after ${keys.length} whole entries; what followed is not known`;
  for (;;) {
    // The place is that of a bracket or a comma, after which an entry begins.
    place = afterSpace(text, place + 1);
    const entry = scanString(text, place);
    const key = JSON.parse(`"${entry.body}"`) as string;
    if (!entry.whole) {
      if (key === '') return { keys, unknownEntry: true, damage: damaged('is cut off or damaged') };
      return { keys, cut: key, unknownEntry: false, damage: damaged('is cut off within an entry') };
    }
    keys.push(key);
    place = afterSpace(text, entry.end);
    if (text[place] === ',') continue;
    // Where the text ends between two entries nothing tells of a further one.
    const ended = place >= text.length || text[place] === ']';
    return { keys, unknownEntry: !ended, damage: damaged('is cut off or damaged') };
  }
}

function afterSpace(text: string, from: number): number {
  let place = from;
  while (place < text.length && ' \t\r\n'.includes(text[place] as string)) place += 1;
  return place;
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The string that begins at a place, up to where it ends, is cut off or runs into damage. */
function scanString(text: string, from: number): { body: string; end: number; whole: boolean } {
  if (text[from] !== '"') return { body: '', end: from, whole: false };
  const start = from + 1;
  let place = start;
  while (place < text.length && text[place] !== '"') {
    if (text.charCodeAt(place) < 0x20) break;
    if (text[place] !== '\\') {
      place += 1;
      continue;
    }
    // An escape that was cut off says nothing.
    ESCAPE.lastIndex = place;
    const found = ESCAPE.exec(text);
    if (found === null) break;
    place += found[0].length;
  }
  return { body: text.slice(start, place), end: place + 1, whole: text[place] === '"' };
}

/** The text up to the first byte that is no UTF-8, or up to a character that was cut off at the end. */
function decodeBeginning(bytes: Uint8Array): { text: string; rest: number } {
  let text = decodeStrictly(bytes);
  if (text === undefined) {
    // How many bytes from the start are well-formed: what a lossless decoding has in common with the bytes.
    const lossy = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    let same = 0;
    while (same < bytes.length && lossy[same] === bytes[same]) same += 1;
    text = decodeStrictly(bytes.subarray(0, same)) ?? '';
  }
  return { text, rest: bytes.length - Buffer.byteLength(text) };
}

/** Undefined where bytes are no UTF-8; a character that was cut off at the end is left out. */
function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
