import type { MigrationItem, MigrationKind } from './items.ts';
import type { ConversationSetAside, MigrationCounts, MigrationPlan } from './plan.ts';
import type { UserDataProblem } from './user-data.ts';

/** What became of an item. */
export type ItemOutcome =
  /** Appended by this run; in a dry run: would be. */
  | 'broughtIn'
  /** It is in the log as the source has it, from an earlier run or by other means. */
  | 'alreadyThere'
  /** The log has something else in its place, and keeps it. */
  | 'kept'
  /** The log refused it, or what was read back is not what was brought in. */
  | 'failed';

export interface ItemNote {
  kind: MigrationKind;
  key: string;
  reason: string;
}

/** The whole account of a run, as plain JSON. */
export interface MigrationReport {
  source: string;
  fingerprint: string;
  dryRun: boolean;
  /** Whether the log says that the source is in it whole: since this run, since an earlier one, or not. */
  completed: 'now' | 'before' | 'no';
  /** Why it is not completed. */
  incomplete: string[];
  /** What the source holds. */
  found: MigrationCounts;
  outcomes: Record<MigrationKind, Record<ItemOutcome, number>>;
  kept: ItemNote[];
  failed: ItemNote[];
  problems: UserDataProblem[];
  setAside: {
    conversations: ConversationSetAside[];
    rows: { conversationKey: string; count: number }[];
  };
  fromMonolith: string[];
  /** Conversations that were cleared and stay so; `torn` where only the beginning of an entry says it. */
  cleared: { conversationKey: string; torn?: string }[];
  /** The exit status that says this: 2 where anything could not be read or brought in, else 0. */
  exitCode: 0 | 2;
}

/** An item with what became of it. */
export interface Settled {
  item: MigrationItem;
  outcome: ItemOutcome;
  reason?: string;
}

export function reportOf(
  plan: MigrationPlan,
  settled: readonly Settled[],
  end: { dryRun: boolean; completed: MigrationReport['completed']; incomplete: string[] },
): MigrationReport {
  const outcomes = {
    cleared: noneYet(),
    conversation: noneYet(),
    session: noneYet(),
    transcript: noneYet(),
  };
  for (const { item, outcome } of settled) outcomes[item.kind][outcome] += 1;
  const failed = notesOf(settled, 'failed');
  return {
    source: plan.source,
    fingerprint: plan.fingerprint,
    ...end,
    found: plan.counts,
    outcomes,
    kept: notesOf(settled, 'kept'),
    failed,
    problems: plan.problems,
    setAside: plan.setAside,
    fromMonolith: plan.fromMonolith,
    cleared: plan.items.flatMap((item) => (item.kind === 'cleared' ? [clearedNote(item.event.data)] : [])),
    exitCode: plan.problems.length > 0 || failed.length > 0 ? 2 : 0,
  };
}

function noneYet(): Record<ItemOutcome, number> {
  return { broughtIn: 0, alreadyThere: 0, kept: 0, failed: 0 };
}

function notesOf(settled: readonly Settled[], wanted: ItemOutcome): ItemNote[] {
  return settled
    .filter(({ outcome }) => outcome === wanted)
    .map(({ item, reason = '' }) => ({ kind: item.kind, key: item.key, reason }));
}

function clearedNote(data: { conversationKey: string; torn?: string | undefined }) {
  return { conversationKey: data.conversationKey, ...(data.torn !== undefined && { torn: data.torn }) };
}
