import {
  checkParameters,
  type ErrorBody,
  type ErrorCode,
  isOperationName,
  type OperationName,
  type OperationParameters,
  type OperationResult,
  TurnlogError,
} from '@turnlog/events';
import { boundaryOf } from '../access/boundary.ts';
import { type Caller, LOCAL_CALLER } from '../access/caller.ts';
import { type Command, commandOf } from '../commands/command.ts';
import type { Commands } from '../commands/commands.ts';
import { DaemonError } from '../errors.ts';

/** What a handler is told of its call beside the parameters. */
export interface Call {
  caller: Caller;
  /** Where the caller named the command: the handler's append must say that it is done. */
  command: Command | undefined;
}

/** The parameters that are the operation's own. */
export type OwnParameters<Name extends OperationName> = Omit<OperationParameters<Name>, 'commandId'>;

export type Handlers = {
  [Name in OperationName]: (parameters: OwnParameters<Name>, call: Call) => Promise<OperationResult<Name>>;
};

/** The one way to an operation, for every transport and for the command line without a daemon. */
export interface Dispatcher {
  /** For who has the data directory itself. */
  call<Name extends OperationName>(
    name: Name,
    parameters: OperationParameters<Name>,
  ): Promise<OperationResult<Name>>;
  /** The same for a name and parameters that came from outside, which are checked. */
  callUnchecked(name: string, parameters: unknown, caller: Caller): Promise<unknown>;
}

/** Told of each call that came to its end. */
export type CallListener = (call: {
  /** `unknown` where there is no operation of the name that was called. */
  operation: OperationName | 'unknown';
  /** `ok`, or the code of the error. */
  code: ErrorCode | 'ok';
  durationMs: number;
}) => void;

export function createDispatcher(
  handlers: Handlers,
  commands: Commands,
  onCall: CallListener = () => {},
): Dispatcher {
  /** Checked twice: as it came, so that the boundary sees what it expects, and as the handler gets it. */
  async function run<Name extends OperationName>(
    name: Name,
    given: unknown,
    caller: Caller,
  ): Promise<OperationResult<Name>> {
    const boundary = boundaryOf(caller);
    checkParameters(name, given);
    const parameters = boundary.enter(name, given);
    checkParameters(name, parameters);
    try {
      return boundary.leave(name, await carryOut(name, parameters, caller));
    } catch (error) {
      throw boundary.refuse(error);
    }
  }

  async function carryOut<Name extends OperationName>(
    name: Name,
    parameters: OperationParameters<Name>,
    caller: Caller,
  ): Promise<OperationResult<Name>> {
    const { commandId, ...own } = parameters as OwnParameters<Name> & { commandId?: string };
    const handler = handlers[name];
    const ownParameters = own as OwnParameters<Name>;
    if (commandId === undefined) return await handler(ownParameters, { caller, command: undefined });
    const command = commandOf(caller.scope, name, commandId, own);
    const answer = await commands.run(command, () => handler(ownParameters, { caller, command }));
    return answer as OperationResult<Name>;
  }

  async function observed<Result>(
    operation: OperationName | 'unknown',
    task: () => Promise<Result>,
  ): Promise<Result> {
    const begun = performance.now();
    const end = (code: ErrorCode | 'ok') =>
      onCall({ operation, code, durationMs: performance.now() - begun });
    try {
      const result = await task();
      end('ok');
      return result;
    } catch (error) {
      end(errorBodyOf(error).code);
      throw error;
    }
  }

  return {
    call: (name, parameters) => observed(name, () => run(name, parameters, LOCAL_CALLER)),
    callUnchecked: (name, parameters, caller) =>
      isOperationName(name)
        ? observed(name, () => run(name, parameters, caller))
        : observed('unknown', async () => {
            throw new DaemonError('operation_not_found', 'there is no operation of this name', {
              operation: name.slice(0, 100),
            });
          }),
  };
}

/** The shape in which an error leaves; a fault of our own says no more than that it is one. */
export function errorBodyOf(error: unknown): ErrorBody {
  if (error instanceof TurnlogError) return error.toBody();
  return { code: 'internal', message: 'turnlog has failed; its own log says how' };
}
