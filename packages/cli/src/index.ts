export * from './exit-codes.ts';
export * from './program.ts';
