export { decideSave, type Save } from './decide-save.ts';
export { ROW_DEPTH_MAX, readRows, TranscriptRow } from './identity.ts';
export { transcripts } from './projection.ts';
export * from './reads.ts';
export { loadSaveState, type SaveState } from './save-state.ts';
