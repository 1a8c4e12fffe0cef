import type Type from 'typebox';
import { bridgeOperations } from './bridge-operations.ts';
import { migrationOperations } from './migration-operations.ts';
import { conversationOperations, daemonOperations, transcriptOperations } from './record-operations.ts';
import { tokenOperations } from './token-operations.ts';

export { MIGRATION_ITEMS_MAX, type WireMigrationItem } from './migration-operations.ts';
export * from './operation.ts';
export * from './subscriptions.ts';
export { TokenScope } from './token-operations.ts';

/** Every operation by its name: the one registry that transports, documents and the client are made of. */
export const operations = {
  ...bridgeOperations,
  ...conversationOperations,
  ...transcriptOperations,
  ...migrationOperations,
  ...daemonOperations,
  ...tokenOperations,
} as const;

export type OperationName = keyof typeof operations;
export type OperationParameters<Name extends OperationName> = Type.Static<
  (typeof operations)[Name]['parameters']
>;
export type OperationResult<Name extends OperationName> = Type.Static<(typeof operations)[Name]['result']>;

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}
