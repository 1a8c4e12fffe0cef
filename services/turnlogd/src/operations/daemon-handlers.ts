import { type Envelope, type OperationParameters, PAGE_ROWS_DEFAULT } from '@turnlog/events';
import type { Log } from '@turnlog/log';
import type { Service } from '../service.ts';
import type { Handlers } from './dispatcher.ts';

type DaemonHandlers = Pick<
  Handlers,
  | 'log.read'
  | 'log.verify'
  | 'projections.status'
  | 'projections.flush'
  | 'projections.rebuild'
  | 'daemon.status'
>;

/** A filter that finds little looks at no more records than this in one call; `next` says where to go on. */
const SCANNED_RECORDS_MAX = 10_000;
/** One page holds about so much text, however long its events are. */
const PAGE_LENGTH_MAX = 8 * 1024 * 1024;

export function daemonHandlers(service: Service): DaemonHandlers {
  const { log, projections, bridges, streams, work } = service;
  return {
    'log.read': (query) => readLog(log, query),
    // One at a time: each reads the whole log.
    'log.verify': () =>
      streams.run('log.verify', () =>
        work.run('log.verify', (report) => log.verify({ onProgress: (seq) => report(seq, log.head()) })),
      ),
    'projections.status': async () => ({ projections: await projections.status() }),
    'projections.flush': async () => await projections.flush(),
    'projections.rebuild': async ({ only, check }) =>
      await work.run('projections.rebuild', async (report) => {
        const options = {
          ...(only && { only }),
          onProgress: ({ seq, head }: { seq: number; head: number }) => report(seq, head),
        };
        return { projections: check ? await projections.check(options) : await projections.rebuild(options) };
      }),
    'daemon.status': async () => {
      const { version, mode, data, since, subscribers } = service.describe();
      return {
        version,
        mode,
        data,
        pid: process.pid,
        seq: log.head(),
        state: log.state().state,
        projections: await projections.status(),
        bridges: bridges.size,
        subscribers,
        work: work.list(),
        since,
      };
    },
  };
}

async function readLog(
  log: Log,
  { from, limit = PAGE_ROWS_DEFAULT, stream, type }: OperationParameters<'log.read'>,
): Promise<{ events: Envelope[]; next: number }> {
  const events: Envelope[] = [];
  let next = from;
  let scanned = 0;
  let length = 0;
  const head = log.head();
  const records =
    stream === undefined
      ? log.read({ from, to: head })
      : log.readStream(stream, { from: await log.firstRevisionFrom(stream, from) });
  for await (const event of records) {
    next = event.seq + 1;
    scanned += 1;
    if (type === undefined || event.type === type) {
      events.push(event);
      length += JSON.stringify(event).length;
    }
    if (events.length >= limit || scanned >= SCANNED_RECORDS_MAX || length >= PAGE_LENGTH_MAX) {
      return { events, next };
    }
  }
  return { events, next: Math.max(from, head + 1) };
}
