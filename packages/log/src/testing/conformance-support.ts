import type { Envelope } from '@turnlog/events';
import type { Log } from '../log.ts';
import type { AnyNewEvent } from '../prepare-append.ts';

/** Registers a test with a log of its own; `reopen` closes the log and opens what is there. */
export type ConformanceCheck = (
  title: string,
  run: (log: Log, reopen: () => Promise<Log>) => Promise<void>,
) => void;

export function said(text: string): AnyNewEvent {
  return { type: 'said', data: { text } };
}

export function textOf(event: Envelope | undefined): string {
  return (event?.data as { text: string } | undefined)?.text ?? '';
}

export async function seqs(events: AsyncIterable<Envelope>): Promise<number[]> {
  return (await all(events)).map(({ seq }) => seq);
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

export async function codeOf(running: Promise<unknown>): Promise<string | undefined> {
  return (await failure(running)).code;
}

export async function failure(running: Promise<unknown>): Promise<{ code?: string; details?: unknown }> {
  try {
    await running;
  } catch (error) {
    return error as { code?: string; details?: unknown };
  }
  throw new Error('expected a failure');
}
