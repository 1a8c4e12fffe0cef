export type {
  ConversationSetAside,
  MigrationCounts,
  MigrationItem,
  MigrationKind,
  MigrationPlan,
} from './plan.ts';
export { MIGRATION_SOURCE, planMigration } from './plan.ts';
export { readUserData } from './read-user-data.ts';
export type { ItemNote, ItemOutcome, MigrationReport } from './report.ts';
export { type MigrationOptions, type MigrationProgress, runMigration } from './run.ts';
export type { MigrationTarget, SessionRecord } from './target.ts';
export * from './user-data.ts';
