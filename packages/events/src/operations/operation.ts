import Type from 'typebox';
import { Count, Exactly, Key } from '../schema.ts';

/** The most events in one `bridge.event`. */
export const BRIDGE_EVENTS_MAX = 10_000;
/** The most rows in one page of any list, and the number where none is asked for. */
export const PAGE_ROWS_MAX = 1_000;
export const PAGE_ROWS_DEFAULT = 100;

/** Every writing operation answers at least the seq up to which it is on disk. */
export const Written = { seq: Count };

/**
 * What every writing operation takes: the same id twice is done once and answered alike, for ever. The same id
 * with other parameters is `event_conflict`.
 */
export const CommandFields = { commandId: Type.Optional(Key) };

export const Page = {
  after: Type.Optional(Key),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_ROWS_MAX })),
};

/** One operation of the registry: its parameters and its result, both closed objects. */
export interface OperationSchema<
  Parameters extends Type.TProperties = Type.TProperties,
  Result extends Type.TProperties = Type.TProperties,
> {
  /** Whether it can append to the log. */
  writes: boolean;
  parameters: Type.TObject<Parameters>;
  result: Type.TObject<Result>;
}

export function operation<Parameters extends Type.TProperties, Result extends Type.TProperties>(schema: {
  writes: true;
  parameters: Parameters;
  result: Result;
}): OperationSchema<Parameters & typeof CommandFields, Result>;
export function operation<Parameters extends Type.TProperties, Result extends Type.TProperties>(schema: {
  writes: false;
  parameters: Parameters;
  result: Result;
}): OperationSchema<Parameters, Result>;
export function operation(schema: OperationDraft): OperationSchema {
  const { writes, parameters, result } = schema;
  return {
    writes,
    parameters: Exactly(writes ? { ...parameters, ...CommandFields } : parameters),
    result: Exactly(result),
  };
}

interface OperationDraft {
  writes: boolean;
  parameters: Type.TProperties;
  result: Type.TProperties;
}
