import {
  assert,
  type Envelope,
  type EventData,
  JsonText,
  type OperationResult,
  streamOf,
} from '@turnlog/events';
import type { AnyNewEvent, AppendResult, Log } from '@turnlog/log';
import { DaemonError } from '../errors.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { type Answers, answerOf, type Completed } from './answers.ts';
import { type Command, causedId, completing, completionId } from './command.ts';

/*
 * Commands that their callers named are done once.
 *
 * What a command did and that it is done are in one append, under ids made of the command's own. So after a
 * crash at any point the log says by the id of the completion whether it is done: then it is answered from
 * there, and otherwise nothing of it is there and it is decided anew. A command that changed nothing leaves its
 * completion alone, so that it changes nothing later either. One that was refused leaves nothing.
 */

/** That a command is done, for the append that does it. */
export interface Completion {
  command: Command;
  /** What it is answered, without any seq and without anything secret. */
  answer: object;
}

/**
 * Appends what an operation decided; where its caller named it, together with that it is done. A completion
 * alone is in a stream of its own, for nothing has happened in the other.
 */
export async function appendFor(
  log: Pick<Log, 'append'>,
  stream: string,
  events: readonly AnyNewEvent[],
  completion: Completion | undefined,
): Promise<AppendResult> {
  if (completion === undefined) return await log.append(stream, events);
  const { command, answer } = completion;
  const within = events.length === 0 ? streamOf.commands() : stream;
  return await log.append(within, completing(command, events, answer));
}

type CommandLog = Pick<Log, 'append' | 'read' | 'seqOf'>;

export class Commands {
  readonly #log: CommandLog;
  readonly #answers: Answers;
  readonly #inOrder = new KeyedLock();

  constructor(log: CommandLog, answers: Answers) {
    this.#log = log;
    this.#answers = answers;
  }

  /**
   * Does a command unless it is done, and answers it the same either way.
   * @param task does it; what it appends carries the completion, and where it appends nothing that is done here
   * @throws DaemonError `event_conflict` where the id has named another command
   */
  async run(command: Command, task: () => Promise<object>): Promise<OperationResult<Command['operation']>> {
    return await this.#inOrder.run(command.key, async () => {
      const before = await this.#find(command);
      if (before !== undefined) return await answerOf(this.#answers, command.operation, before);
      const result = await task();
      const completed = (await this.#find(command)) ?? (await this.#complete(command, result));
      return await answerOf(this.#answers, command.operation, completed);
    });
  }

  async #find(command: Command): Promise<Completed | undefined> {
    const seq = await this.#log.seqOf(completionId(command));
    if (seq === undefined) return undefined;
    const event = await this.#read(seq);
    const { operation, digest, answer } = event.data as EventData<'command_completed'>;
    if (operation !== command.operation || digest !== command.digest) {
      throw new DaemonError('event_conflict', `this commandId has named another command (seq ${seq})`, {
        commandId: command.commandId,
      });
    }
    return this.#completed(command, answer, event);
  }

  async #read(seq: number): Promise<Envelope> {
    for await (const event of this.#log.read({ from: seq, limit: 1 })) {
      assert(event.type === 'command_completed', 'only completions have such an id');
      return event;
    }
    throw new DaemonError('store_damaged', `event ${seq}, which the index names, cannot be found`, { seq });
  }

  async #complete(command: Command, result: object): Promise<Completed> {
    assert(!('ownerToken' in result), 'nothing secret is logged');
    const { seq: _, ...answer } = result as { seq?: number };
    const { events } = await appendFor(this.#log, streamOf.commands(), [], { command, answer });
    const [event] = events;
    assert(event !== undefined, 'the completion is an event');
    return this.#completed(command, JsonText.of(answer), event);
  }

  #completed(command: Command, answer: JsonText, { seq, at }: { seq: number; at: number }): Completed {
    return {
      answer: answer.parse() as object,
      seq,
      at,
      seqOfCaused: async (place) => await this.#log.seqOf(causedId(command, place)),
    };
  }
}
