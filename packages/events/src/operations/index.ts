import type Type from 'typebox';
import { bridgeOperations } from './bridge-operations.ts';
import {
  conversationOperations,
  daemonOperations,
  migrationOperations,
  transcriptOperations,
} from './record-operations.ts';

export * from './operation.ts';
export * from './subscriptions.ts';

/** Every operation by its name: the one registry that transports, documents and the client are made of. */
export const operations = {
  ...bridgeOperations,
  ...conversationOperations,
  ...transcriptOperations,
  ...migrationOperations,
  ...daemonOperations,
} as const;

export type OperationName = keyof typeof operations;
export type OperationParameters<Name extends OperationName> = Type.Static<
  (typeof operations)[Name]['parameters']
>;
export type OperationResult<Name extends OperationName> = Type.Static<(typeof operations)[Name]['result']>;

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}
