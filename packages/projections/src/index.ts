export * from './conversations/index.ts';
export { type DatabaseHome, levelDatabase } from './engine/level-database.ts';
export * from './engine/projection.ts';
export * from './engine/projections.ts';
export * from './errors.ts';
export * from './migration/index.ts';
export * from './sessions/index.ts';
export * from './transcripts/index.ts';
