export type { AppendResult } from './append-queue.ts';
export { currentBootId } from './boot.ts';
export { LogError, storeErrorOf } from './errors.ts';
export {
  type FileSystem,
  nodeFileSystem,
  readTextFile,
  removeFileDurably,
  sweepTemporaryFiles,
  syncDirectory,
  writeFileDurably,
} from './file-system.ts';
export {
  APPEND_BYTES_MAX,
  APPEND_EVENTS_MAX,
  DEFAULT_LIMITS,
  type LogLimits,
  RECORD_BYTES_MAX,
} from './limits.ts';
export type { Log } from './log.ts';
export type {
  CommitListener,
  FollowOptions,
  LogState,
  OpeningReport,
  ReadOptions,
  ReadStreamOptions,
} from './log-types.ts';
export { type OpenLogOptions, openLog } from './open-log.ts';
export { lockedError, nodeProcessTable, type Owner, type ProcessTable, readOwner } from './owner.ts';
export { PatientRetry, type PatientRetryOptions, systemTimer, type Timer } from './patient-retry.ts';
export { PAYLOAD_PART, type PayloadPartStub } from './payload-parts.ts';
export type { AnyNewEvent, AppendOptions } from './prepare-append.ts';
export { hasRoom } from './room.ts';
export {
  classicStore,
  type Database,
  type DatabaseName,
  droppedLines,
  putRows,
  type Row,
  type Store,
} from './store.ts';
export type { Verification, VerifyOptions, VerifyProblem } from './verify-records.ts';
