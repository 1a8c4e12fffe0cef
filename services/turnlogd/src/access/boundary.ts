import type {
  OperationName,
  OperationParameters,
  OperationResult,
  SubscriptionName,
  SubscriptionParameters,
} from '@turnlog/events';
import type { Caller } from './caller.ts';
import { webBoundary } from './web-boundary.ts';

/** What lies between a caller and the operations: what his token opens, and by which names he knows it. */
export interface Boundary {
  /**
   * Parameters as the operations know them.
   * @throws DaemonError `forbidden`, `conversation_not_found`, `invalid_argument`
   */
  enter<Name extends OperationName>(
    name: Name,
    parameters: OperationParameters<Name>,
  ): OperationParameters<Name>;
  /** A result as the caller may see it. */
  leave<Name extends OperationName>(name: Name, result: OperationResult<Name>): OperationResult<Name>;
  /**
   * The parameters of a subscription, likewise.
   * @throws DaemonError `forbidden`, `invalid_argument`
   */
  follow<Name extends SubscriptionName>(
    name: Name,
    parameters: SubscriptionParameters<Name>,
  ): SubscriptionParameters<Name>;
  /** An error as the caller may see it. */
  refuse(error: unknown): unknown;
}

/** Who has the data directory itself is not held by anything. */
const localBoundary: Boundary = {
  enter: (_name, parameters) => parameters,
  leave: (_name, result) => result,
  follow: (_name, parameters) => parameters,
  refuse: (error) => error,
};

export function boundaryOf({ scope }: Caller): Boundary {
  return scope === 'local' ? localBoundary : webBoundary;
}
