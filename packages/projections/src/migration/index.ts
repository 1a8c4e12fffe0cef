export { CLEARED_DIGEST, contentDigest, digestOfItem } from './content.ts';
export {
  clearedItem,
  conversationItem,
  MIGRATION_SOURCE,
  type MigrationItem,
  type MigrationKind,
  sessionItem,
  transcriptItem,
} from './items.ts';
export type { ConversationSetAside, MigrationCounts, MigrationPlan } from './plan.ts';
export { planMigration } from './plan.ts';
export { readUserData } from './read-user-data.ts';
export type { ItemNote, ItemOutcome, MigrationReport } from './report.ts';
export {
  MIGRATION_BATCH_ITEMS,
  type MigrationOptions,
  type MigrationProgress,
  runMigration,
} from './run.ts';
export { storeTarget } from './store-target.ts';
export type {
  MigrationCompletion,
  MigrationStore,
  MigrationSubject,
  MigrationTarget,
  Placement,
  SeenEvent,
  SessionRecord,
} from './target.ts';
export * from './user-data.ts';
