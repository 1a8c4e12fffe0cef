import { type OperationName, type OperationResult, operations } from '@turnlog/events';

/** That a command is done, as the log tells it. */
export interface Completed {
  /** What was kept of its answer. */
  answer: object;
  /** Where it is in the log. */
  seq: number;
  /** When it was done, in milliseconds since 1970. */
  at: number;
  /** The seq of an event that it caused, counted in their append from 0 on. */
  seqOfCaused(place: number): Promise<number | undefined>;
}

/** Makes the whole answer of what was kept: what holds a seq or a secret is kept in another form. */
export type Answers = {
  [Name in OperationName]?: (completed: Completed) => Promise<OperationResult<Name>>;
};

/** The answer of a command that is done; where nothing else is said, what was kept and the seq of its end. */
export async function answerOf<Name extends OperationName>(
  answers: Answers,
  name: Name,
  completed: Completed,
): Promise<OperationResult<Name>> {
  const answer = answers[name];
  if (answer !== undefined) return await answer(completed);
  const { seq, answer: kept } = completed;
  const hasSeq = Object.hasOwn(operations[name].result.properties, 'seq');
  return (hasSeq ? { ...kept, seq } : kept) as OperationResult<Name>;
}
