import type { Envelope } from '@turnlog/events';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { type Target, withTarget } from '../target.ts';
import { formatTime } from '../terminal/human.ts';
import { formatJsonLine } from '../terminal/json.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { truncate } from '../terminal/table.ts';

export interface LogOptions {
  from?: number;
  follow?: boolean;
}

/** Lists the events of the log, one a line, and with `follow` goes on as they come. */
export async function logCommand(
  context: Context,
  { from = 1, follow = false }: LogOptions,
): Promise<number> {
  await withTarget(context, async (target) => {
    const events = follow ? followed(target, from) : stored(target, from);
    for await (const event of events) await write(context, event);
  });
  return EXIT.ok;
}

async function* stored({ call }: Target, from: number): AsyncIterable<Envelope> {
  let next = from;
  for (;;) {
    const page = await call('log.read', { from: next, limit: 1_000 });
    yield* page.events as Envelope[];
    if (page.next === next || page.events.length === 0) return;
    next = page.next;
  }
}

async function* followed(target: Target, from: number): AsyncIterable<Envelope> {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    yield* target.follow(from, stopped.signal);
  } finally {
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
  }
}

async function write({ stdout, json, width, colours }: Context, event: Envelope): Promise<void> {
  const line = json ? formatJsonLine(event) : `${inWords(event, width, colours.dim)}\n`;
  if (!stdout.write(line)) await new Promise((resolve) => stdout.once('drain', resolve));
}

const TYPE_WIDTH = 22;

function inWords(event: Envelope, width: number | undefined, dim: (text: string) => string): string {
  const start = `${String(event.seq).padStart(8)}  ${formatTime(event.at)}  ${safeLine(event.type).padEnd(TYPE_WIDTH)}  `;
  const rest = safeLine(`${event.stream}  ${JSON.stringify(event.data)}`);
  return width === undefined
    ? `${start}${rest}`
    : `${start}${dim(truncate(rest, Math.max(8, width - start.length)))}`;
}
