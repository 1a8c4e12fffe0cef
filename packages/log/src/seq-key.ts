import { assert } from '@turnlog/events';

/** Bytes of a whole number in a key or a value: big-endian, so that byte order is number order. */
export const NUMBER_BYTES = 8;

export function numberBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES);
  writeNumber(bytes, value, 0);
  return bytes;
}

export function writeNumber(bytes: Buffer, value: number, offset: number): void {
  assert(Number.isSafeInteger(value) && value >= 0, 'a stored number is whole and not negative');
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), offset);
  bytes.writeUInt32BE(value % 2 ** 32, offset + 4);
}

/** The number in eight bytes, or undefined where they hold none that turnlog could have written. */
export function numberOf(bytes: Buffer, offset = 0): number | undefined {
  if (bytes.length !== offset + NUMBER_BYTES) return undefined;
  const value = bytes.readUInt32BE(offset) * 2 ** 32 + bytes.readUInt32BE(offset + 4);
  return Number.isSafeInteger(value) ? value : undefined;
}
