import { JSON_DEPTH_MAX } from '@turnlog/events';
import { DISPLAY_TIME_FIELDS, type Fields, isObject } from './identity.ts';

/** How one version of a row stands to another. */
export type Growth = 'same' | 'grown' | 'other';

/**
 * Whether `to` is what `from` becomes while an agent is at work: the same fields, texts that go on where
 * they stopped, fields and items that came to it. Display time and status are not compared, for they
 * change with the work. `same` where nothing else differs.
 */
export function growthOf(from: unknown, to: unknown): Growth {
  return isObject(from) && isObject(to) ? growthOfFields(from, to, 1) : growthOfValue(from, to, 1);
}

function growthOfValue(from: unknown, to: unknown, depth: number): Growth {
  if (Object.is(from, to)) return 'same';
  if (from === null) return 'grown';
  if (typeof from === 'string' && typeof to === 'string') return to.startsWith(from) ? 'grown' : 'other';
  if (depth >= JSON_DEPTH_MAX) return 'other';
  if (Array.isArray(from) && Array.isArray(to)) return growthOfItems(from, to, depth + 1);
  if (isObject(from) && isObject(to)) return growthOfFields(from, to, depth + 1);
  return 'other';
}

function growthOfItems(from: readonly unknown[], to: readonly unknown[], depth: number): Growth {
  if (to.length < from.length) return 'other';
  const parts = from.map((item, place) => growthOfValue(item, to[place], depth));
  return sumOf(parts, to.length > from.length);
}

function growthOfFields(from: Fields, to: Fields, depth: number): Growth {
  const isCompared = (name: string) => depth > 1 || !(name === 'status' || DISPLAY_TIME_FIELDS.has(name));
  const names = Object.keys(from).filter(isCompared);
  if (!names.every((name) => Object.hasOwn(to, name))) return 'other';
  const parts = names.map((name) => growthOfValue(from[name], to[name], depth));
  return sumOf(parts, Object.keys(to).filter(isCompared).length > names.length);
}

function sumOf(parts: readonly Growth[], hasMore: boolean): Growth {
  if (parts.includes('other')) return 'other';
  return hasMore || parts.includes('grown') ? 'grown' : 'same';
}
