import type Type from 'typebox';
import { EventError } from '../errors.ts';
import { validatorsOf } from '../validators.ts';
import { bridgeEvents, compactionEvents } from './bridge-events.ts';
import {
  commandEvents,
  conversationEvents,
  migrationEvents,
  sessionEvents,
  transcriptEvents,
} from './record-events.ts';

/** Every event type of turnlog and the schema of its data. `payload_part` is the log's own and not here. */
export const catalogue = {
  ...bridgeEvents,
  ...compactionEvents,
  ...conversationEvents,
  ...sessionEvents,
  ...transcriptEvents,
  ...migrationEvents,
  ...commandEvents,
} as const;

export type EventType = keyof typeof catalogue;

export type EventData<Type_ extends EventType> = Type.Static<(typeof catalogue)[Type_]>;

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(catalogue, type);
}

const validatorOf = validatorsOf((type: EventType) => catalogue[type] as Type.TSchema);

/**
 * Checks an event's data against the catalogue. An event that fails is a fault of the code that made it,
 * for what hosts send is checked before; it must not reach the log all the same.
 * @throws EventError `invalid_argument`, naming the type and the field
 */
export function assertEventData<Type_ extends EventType>(
  type: Type_,
  data: unknown,
): asserts data is EventData<Type_> {
  const validator = validatorOf(type);
  if (validator.Check(data)) return;
  const [problem] = validator.Errors(data);
  throw new EventError(
    'invalid_argument',
    `${type}${problem?.instancePath ?? ''} ${problem?.message ?? 'is wrong'}`,
    {
      type,
      field: problem?.instancePath,
    },
  );
}
