export type { MigrationProgress, MigrationReport } from '@turnlog/projections';
export * from './daemon.ts';
export * from './errors.ts';
export { assertApart } from './migration/assert-directory.ts';
export type { MigrateOptions } from './migration/migrate.ts';
export {
  type AliasReport,
  type MigrateIntoOptions,
  type MigrateIntoReport,
  migrateInto,
} from './migration/migrate-into.ts';
export type { CallOperation } from './migration/operations-target.ts';
export { type ServiceManager, serviceManagerOf } from './notify.ts';
export * from './operations/dispatcher.ts';
export * from './serve.ts';
export { VERSION } from './version.ts';
