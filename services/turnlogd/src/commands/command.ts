import { createHash } from 'node:crypto';
import { EventError, JsonText, type OperationName } from '@turnlog/events';
import type { AnyNewEvent } from '@turnlog/log';

/** A command that its caller named, so that it is done once, however often it is sent. */
export interface Command {
  readonly commandId: string;
  readonly operation: OperationName;
  /** SHA-256 of its parameters, in hex. */
  readonly digest: string;
  /** Names its events in the log; of one length, whatever the caller's id is. */
  readonly key: string;
}

/**
 * @param scope who may have named it: the same id of callers of another scope is another command
 * @param parameters without the id
 */
export function commandOf(
  scope: string,
  operation: OperationName,
  commandId: string,
  parameters: object,
): Command {
  return { commandId, operation, digest: digestOf(parameters), key: sha256(`${scope}\0${commandId}`) };
}

/**
 * A part of a command that cannot be done in one append. It has the digest of the whole, so that a part that
 * is found tells whether it is of the same command.
 */
export function partOf(command: Command, operation: OperationName, place: number): Command {
  return { ...command, operation, key: `${command.key}/${place}` };
}

/** The id of the event that says that the command is done. */
export function completionId({ key }: Command): string {
  return `command:${key}`;
}

/** The id of one of the events that the command caused, counted in their append from 0 on. */
export function causedId({ key }: Command, place: number): string {
  return `command:${key}#${place}`;
}

/**
 * The events that a command causes, each named by it, and after them that it is done: in one append, so that a
 * crash leaves all of it or nothing.
 * @param answer what it is answered, without any seq and without anything secret
 */
export function completing(command: Command, events: readonly AnyNewEvent[], answer: object): AnyNewEvent[] {
  const { commandId, operation, digest } = command;
  return [
    ...events.map((event, place) => ({
      ...event,
      id: causedId(command, place),
      meta: { ...event.meta, commandId },
    })),
    {
      id: completionId(command),
      type: 'command_completed',
      data: { commandId, operation, digest, answer: JsonText.of(answer) },
      meta: { commandId },
    },
  ];
}

/** Of the JSON text; the order of the parameters themselves does not count. */
function digestOf(parameters: object): string {
  const named = Object.entries(parameters).filter(([, value]) => value !== undefined);
  try {
    return sha256(JSON.stringify(named.sort(([one], [other]) => (one < other ? -1 : 1))));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new EventError('invalid_argument', 'the parameters are nested too deeply');
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
