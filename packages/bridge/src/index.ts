export * from './decide-end.ts';
export * from './decide-report.ts';
export type { EmittedEvent } from './draft.ts';
export * from './evolve.ts';
export * from './facts.ts';
export * from './gathering.ts';
export * from './machine.ts';
export * from './report-outcome.ts';
export * from './state.ts';
