import { crc32 } from 'node:zlib';

const CHECKSUM_BYTES = 4;

/**
 * A value as it is stored: a CRC-32 of its key and itself, and then itself. The first character of the key is
 * left out: it says in which slot a row is, and the same row is stored alike in every slot.
 */
export function sealed(key: string, value: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(CHECKSUM_BYTES + value.length);
  stored.writeUInt32BE(checksum(key, value), 0);
  value.copy(stored, CHECKSUM_BYTES);
  return stored;
}

/** The value; undefined where it does not fit its checksum. */
export function unsealed(key: string, stored: Buffer): Buffer | undefined {
  if (stored.length < CHECKSUM_BYTES) return undefined;
  const value = stored.subarray(CHECKSUM_BYTES);
  return stored.readUInt32BE(0) === checksum(key, value) ? value : undefined;
}

function checksum(key: string, value: Buffer): number {
  return crc32(value, crc32(key.slice(1)));
}
