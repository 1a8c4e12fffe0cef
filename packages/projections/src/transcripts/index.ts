export { decideSave, type Save } from './decide-save.ts';
export { readRows, TranscriptRow } from './identity.ts';
export { transcripts } from './projection.ts';
export * from './reads.ts';
export { loadSaveState, type SaveState } from './save-state.ts';
