import { catalogue, type Envelope, type OperationParameters } from '@turnlog/events';
import { Option } from 'commander';
import type { CommandSpec } from '../command.ts';
import { type Context, write } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { Interrupted, interruptible } from '../interrupt.ts';
import { seqOf } from '../options.ts';
import { type Target, withTarget } from '../target.ts';
import { formatTime } from '../terminal/human.ts';
import { formatJsonLine } from '../terminal/json.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { truncate } from '../terminal/table.ts';

interface LogOptions {
  from?: number;
  follow?: boolean;
  stream?: string;
  type?: string;
}

type Query = OperationParameters<'log.read'>;

export const logCommand: CommandSpec<LogOptions> = {
  name: 'log',
  group: 'read',
  description: 'list the events of the log',
  configure: (command) =>
    command
      .option('--from <seq>', 'begin at this seq (1)', seqOf)
      .option('--stream <stream>', 'only this stream, such as conversation:<key>')
      .addOption(new Option('--type <type>', 'only events of this type').choices(Object.keys(catalogue)))
      .option('--follow', 'go on as events come, until Ctrl-C'),
  run: log,
};

/** Lists the events of the log, one a line, and with `follow` goes on as they come. */
async function log(
  context: Context,
  { follow = false, from = 1, stream, type }: LogOptions,
): Promise<number> {
  const query = { from, ...(stream !== undefined && { stream }), ...(type !== undefined && { type }) };
  await withTarget(context, async (target) => {
    if (!follow) {
      for await (const event of stored(target, query)) await writeEvent(context, event);
      return;
    }
    await untilStopped(async (signal) => {
      for await (const event of followed(target, query, signal)) await writeEvent(context, event);
    });
  });
  return EXIT.ok;
}

async function* stored({ call }: Target, { from, ...filter }: Query): AsyncIterable<Envelope> {
  for (let next = from; ; ) {
    // A page may hold nothing that the filter lets through, and still not be the last.
    const page = await call('log.read', { from: next, limit: 1_000, ...filter });
    yield* page.events as Envelope[];
    if (page.next === next) return;
    next = page.next;
  }
}

async function* followed(
  target: Target,
  { from, stream, type }: Query,
  signal: AbortSignal,
): AsyncIterable<Envelope> {
  for await (const event of target.follow(from, signal)) {
    const isWanted =
      (stream === undefined || event.stream === stream) && (type === undefined || event.type === type);
    if (isWanted) yield event;
  }
}

/** Following has no other end than being stopped, so that is no failure. */
async function untilStopped(task: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await interruptible(task);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  }
}

async function writeEvent(context: Context, event: Envelope): Promise<void> {
  await write(context, context.json ? formatJsonLine(event) : `${inWords(event, context)}\n`);
}

const TYPE_WIDTH = 22;

function inWords(event: Envelope, { width, colours }: Context): string {
  const type = safeLine(event.type).padEnd(TYPE_WIDTH);
  const start = `${String(event.seq).padStart(8)}  ${formatTime(event.at)}  ${type}  `;
  const rest = safeLine(`${event.stream}  ${JSON.stringify(event.data)}`);
  return width === undefined
    ? `${start}${rest}`
    : `${start}${colours.dim(truncate(rest, Math.max(8, width - start.length)))}`;
}
