import { recordAnswer, reportAnswer } from '../bridges/kept-answers.ts';
import type { Answers } from '../commands/answers.ts';
import { type KeptSave, savedAt } from './transcript-handlers.ts';

/** The answers that are kept in another form than they are given. */
export function keptAnswers(ownerToken: (bridgeId: string, since: number) => string): Answers {
  return {
    'bridge.record': async (completed) => recordAnswer(completed, ownerToken),
    'bridge.event': reportAnswer,
    'transcripts.save': async ({ seq, answer }) => savedAt(seq, answer as KeptSave),
  };
}
