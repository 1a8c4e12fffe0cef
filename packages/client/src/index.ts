export * from './client.ts';
export * from './errors.ts';
export * from './find-daemon.ts';
