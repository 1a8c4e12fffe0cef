import type { Envelope } from '@turnlog/events';
import type { OpenedStore } from './opened-store.ts';

/** The events of a stream from one revision to another, all of which must be there. */
export async function* streamEvents(
  { index, reader }: OpenedStore,
  stream: string,
  from: number,
  last: number,
): AsyncGenerator<Envelope, void, undefined> {
  let expected = from;
  for await (const places of index.index.placesOf(stream, from)) {
    const wanted = places.filter(({ revision }) => revision <= last);
    for (const event of await reader.many(wanted.map(({ seq }) => seq))) {
      if (event.stream !== stream || event.revision !== expected) {
        throw index.index.damage(`it takes event ${event.seq} for revision ${expected} of ${stream}`);
      }
      yield event;
      expected += 1;
    }
    if (expected > last) return;
  }
  throw index.index.damage(`revision ${expected} of ${stream} is missing`, { stream, expected });
}

/** How many events a stream has; 0 for one that nobody appended to. */
export async function revisionIn({ index }: OpenedStore, stream: string): Promise<number> {
  return (await index.index.revisionsOf(new Set([stream]))).get(stream) ?? 0;
}

/** The first revision of a stream whose event has this seq or a later one; its head + 1 where none has. */
export async function firstRevisionFrom(opened: OpenedStore, stream: string, seq: number): Promise<number> {
  let low = 1;
  let high = (await revisionIn(opened, stream)) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await opened.index.index.placeOf(stream, middle)).seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
