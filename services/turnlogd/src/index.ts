export type { MigrationProgress, MigrationReport } from '@turnlog/projections';
export * from './daemon.ts';
export * from './errors.ts';
export type { MigrateOptions } from './migrate.ts';
export * from './operations/dispatcher.ts';
export * from './serve.ts';
export { VERSION } from './version.ts';
