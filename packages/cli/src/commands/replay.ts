import { setTimeout as delay } from 'node:timers/promises';
import type { LiveEvent, OperationResult } from '@turnlog/events';
import { InvalidArgumentError } from 'commander';
import { argumentOf, type CommandSpec } from '../command.ts';
import { type Context, write } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import { withTarget } from '../target.ts';
import { formatJsonLine } from '../terminal/json.ts';
import { Storyteller } from '../terminal/storyteller.ts';

/** A pause is no longer than this, however long nothing was said. */
const PAUSE_MAX_MS = 3_000;
const SPEED_MAX = 1_000;

interface ReplayOptions {
  speed: number;
}

type Told = OperationResult<'conversation.replay'>['events'][number];

export const replayCommand: CommandSpec<ReplayOptions> = {
  name: 'replay',
  group: 'read',
  description: 'play a conversation again, event by event, as it went',
  configure: (command) =>
    command
      .argument('<key>', 'its key, such as thread:<session>')
      .option('--speed <number>', 'so many times as fast; 0 does not wait at all', speedOf, 1),
  run: replay,
};

async function replay(
  context: Context,
  { speed }: ReplayOptions,
  arguments_: readonly string[],
): Promise<number> {
  const conversationKey = argumentOf(arguments_, 0);
  const teller = new Storyteller(context);
  await interruptible(async (signal) => {
    let before: number | undefined;
    for await (const told of pages(context, conversationKey)) {
      if (before !== undefined) await pause(told.at - before, speed, signal);
      signal.throwIfAborted();
      before = told.at;
      await write(context, context.json ? inJson(told) : teller.tell(told));
    }
  });
  if (!context.json) await write(context, teller.end());
  return EXIT.ok;
}

/** Between two pages nothing is held open: a replay may take long, and a daemon may start meanwhile. */
async function* pages(context: Context, conversationKey: string): AsyncGenerator<Told> {
  for (let from: number | undefined = 1; from !== undefined; ) {
    const query = { conversationKey, from, limit: 1_000 };
    const page: OperationResult<'conversation.replay'> = await withTarget(context, ({ call }) =>
      call('conversation.replay', query),
    );
    yield* page.events;
    from = page.next;
  }
}

async function pause(elapsedMs: number, speed: number, signal: AbortSignal): Promise<void> {
  if (speed === 0 || elapsedMs <= 0) return;
  await delay(Math.min(elapsedMs / speed, PAUSE_MAX_MS), undefined, { signal });
}

/** One live event a line, with the time at which it was committed. */
function inJson({ at, live }: Told): string {
  return (live as LiveEvent[]).map((event) => formatJsonLine({ at, ...event })).join('');
}

function speedOf(text: string): number {
  const speed = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(speed <= SPEED_MAX)) throw new InvalidArgumentError(`It must be a number from 0 to ${SPEED_MAX}.`);
  return speed;
}
