import {
  type OperationName,
  type OperationParameters,
  type OperationResult,
  operations,
} from '@turnlog/events';
import type { CallOptions } from './connection.ts';

/** Calls an operation by its name. */
export type Call = <Name extends OperationName>(
  name: Name,
  parameters: OperationParameters<Name>,
  options?: CallOptions,
) => Promise<OperationResult<Name>>;

/** One operation as a method; parameters that may all be left out may be left out together. */
export type Method<Name extends OperationName> =
  Record<never, never> extends OperationParameters<Name>
    ? (parameters?: OperationParameters<Name>, options?: CallOptions) => Promise<OperationResult<Name>>
    : (parameters: OperationParameters<Name>, options?: CallOptions) => Promise<OperationResult<Name>>;

type SubjectOf<Name> = Name extends `${infer Subject}.${string}` ? Subject : never;

/** The operations by subject and verb: `conversation.load` is `conversation.load(…)`. */
export type Namespaces = {
  readonly [Subject in SubjectOf<OperationName>]: {
    readonly [Name in OperationName as Name extends `${Subject}.${infer Verb}` ? Verb : never]: Method<Name>;
  };
};

/** Every operation of the registry as a method. */
export function namespacesOf(call: Call): Namespaces {
  const namespaces: Record<string, Record<string, unknown>> = {};
  for (const name of Object.keys(operations) as OperationName[]) {
    const [subject = '', verb = ''] = name.split('.');
    namespaces[subject] ??= {};
    namespaces[subject][verb] = (parameters: OperationParameters<typeof name>, options?: CallOptions) =>
      call(name, parameters ?? {}, options);
  }
  return namespaces as unknown as Namespaces;
}
