import {
  type OperationName,
  type OperationParameters,
  type OperationResult,
  TurnlogError,
} from '@turnlog/events';
import type { Daemon } from '../daemon.ts';
import type { Life } from './machine.ts';

/** What came of a call: an answer, a refusal, or the end of the daemon. */
export type Outcome<Value> =
  | { is: 'answered'; value: Value }
  | { is: 'refused'; error: TurnlogError }
  | { is: 'killed' };

/** Calls a daemon that may be killed meanwhile. What is no refusal but a fault is thrown. */
export async function outcomeOf<Name extends OperationName>(
  daemon: Daemon,
  life: Life,
  name: Name,
  parameters: OperationParameters<Name>,
): Promise<Outcome<OperationResult<Name>>> {
  const answered = daemon.dispatcher.call(name, parameters).then(
    (value) => ({ is: 'answered' as const, value }),
    (error: unknown) => {
      if (error instanceof TurnlogError && error.code !== 'internal')
        return { is: 'refused' as const, error };
      throw error;
    },
  );
  const outcome = await Promise.race([answered, life.killed]);
  return outcome === 'killed' ? { is: 'killed' } : outcome;
}
