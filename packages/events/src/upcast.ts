import { type EventType, isEventType } from './catalogue/index.ts';
import type { CommittedEvent, Envelope } from './envelope.ts';
import { EventError } from './errors.ts';

/*
 * Records are never rewritten, so an event of any earlier version is read for ever. Each type has a version,
 * 1 at first; whoever changes the shape of its data adds the step from the version before, and every reader
 * that knows event types takes its events through `upcast`.
 *
 * An event of a later version than is known here is refused, never misread. A type that is not known is none
 * of these readers' business: where it changes what they show, whoever adds it raises the store's version.
 */

/** Makes data of the next version out of data of one version. It does not change what it is given. */
export type Upcaster = (data: unknown) => unknown;

/** Of each type that has changed: the steps from version 1 to 2, from 2 to 3, and so on. */
export type UpcasterRegistry = Readonly<Record<string, readonly Upcaster[]>>;

const upcasters: UpcasterRegistry & { readonly [Type in EventType]?: readonly Upcaster[] } = {};

/** The version in which events of a type are written. */
export function versionOf(type: EventType): number {
  return currentVersionIn(upcasters, type);
}

/**
 * An event of the catalogue as this version of turnlog knows it; undefined for a type that is not in it.
 * @throws EventError `store_version_unknown` where a later version of turnlog has written it
 */
export function upcast(event: Envelope): CommittedEvent | undefined {
  return isEventType(event.type) ? (upcastWith(upcasters, event) as CommittedEvent) : undefined;
}

/** The same with a given registry, for an event of any type. */
export function upcastWith(registry: UpcasterRegistry, event: Envelope): Envelope {
  const current = currentVersionIn(registry, event.type);
  if (event.v === current) return event;
  if (event.v > current) {
    throw new EventError(
      'store_version_unknown',
      `event ${event.seq} is a ${event.type} of version ${event.v}; this turnlog knows it up to version ${current}`,
      { seq: event.seq, type: event.type, version: event.v, known: current },
    );
  }
  const steps = registry[event.type]?.slice(event.v - 1) ?? [];
  return { ...event, v: current, data: steps.reduce((data, step) => step(data), event.data) };
}

function currentVersionIn(registry: UpcasterRegistry, type: string): number {
  return 1 + (Object.hasOwn(registry, type) ? (registry[type]?.length ?? 0) : 0);
}
