import type { OperationResult } from '@turnlog/events';
import type { CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { formatCount, formatTime } from '../terminal/human.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { formatTable } from '../terminal/table.ts';

export const statusCommand: CommandSpec = {
  name: 'status',
  group: 'read',
  description: 'what the daemon or the directory holds',
  run: status,
};

async function status(context: Context): Promise<number> {
  await withTarget(context, async ({ call, place, daemon }) => {
    const found = await call('daemon.status', {});
    print(context, { ...found, running: daemon === undefined }, () => inWords(context, place, found));
  });
  return EXIT.ok;
}

function inWords(
  { colours, width }: Context,
  place: string,
  status: OperationResult<'daemon.status'>,
): string {
  const { seq, state, since, work, bridges, subscribers, version, data } = status;
  const good = state === 'ready';
  const facts = [
    ['version', version],
    ['where', place],
    ['data', data],
    ['state', good ? colours.green(state) : colours.red(safeLine(state))],
    ['events', formatCount(seq)],
    ['bridges', formatCount(bridges)],
    ['subscribers', formatCount(subscribers)],
    ['since', formatTime(since)],
    ...work.map(({ operation, done, total }) => [
      'doing',
      `${operation}: ${formatCount(done)} of ${formatCount(total)}`,
    ]),
  ] as [string, string][];
  const lines = facts.map(
    ([name, value]) => `${name.padEnd(12)} ${name === 'state' ? value : safeLine(value)}\n`,
  );
  const table = formatTable(
    [
      { title: 'PROJECTION' },
      { title: 'STATE' },
      { title: 'AT', align: 'right' },
      { title: 'BEHIND', align: 'right' },
      { title: 'FILES WAITING', align: 'right' },
      { title: 'PROBLEM', shrinks: true },
    ],
    status.projections.map((projection) => [
      projection.name,
      projection.state,
      formatCount(projection.seq),
      formatCount(projection.lag),
      formatCount(projection.waitingFiles),
      projection.error === undefined ? '' : `${projection.error.code}: ${projection.error.message}`,
    ]),
    width === undefined ? {} : { width },
  );
  return `${lines.join('')}\n${table}`;
}
