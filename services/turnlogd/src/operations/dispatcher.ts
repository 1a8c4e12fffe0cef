import {
  checkParameters,
  type ErrorBody,
  isOperationName,
  type OperationName,
  type OperationParameters,
  type OperationResult,
  TurnlogError,
} from '@turnlog/events';
import { DaemonError } from '../errors.ts';

export type Handlers = {
  [Name in OperationName]: (parameters: OperationParameters<Name>) => Promise<OperationResult<Name>>;
};

/** The one way to an operation, for every transport and for the command line without a daemon. */
export interface Dispatcher {
  call<Name extends OperationName>(
    name: Name,
    parameters: OperationParameters<Name>,
  ): Promise<OperationResult<Name>>;
  /** The same for a name and parameters that came from outside, which are checked. */
  callUnchecked(name: string, parameters: unknown): Promise<unknown>;
}

export function createDispatcher(handlers: Handlers): Dispatcher {
  return {
    async call(name, parameters) {
      checkParameters(name, parameters);
      return await handlers[name](parameters);
    },
    async callUnchecked(name, parameters) {
      if (!isOperationName(name)) {
        throw new DaemonError('operation_not_found', 'there is no operation of this name', {
          operation: name.slice(0, 100),
        });
      }
      return await this.call(name, parameters as OperationParameters<typeof name>);
    },
  };
}

/** The shape in which an error leaves; a fault of our own says no more than that it is one. */
export function errorBodyOf(error: unknown): ErrorBody {
  if (error instanceof TurnlogError) return error.toBody();
  return { code: 'internal', message: 'turnlog has failed; its own log says how' };
}
