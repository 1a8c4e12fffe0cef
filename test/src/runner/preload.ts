/**
 * Loaded into the process of every test file before the file itself, because uvu only counts what is
 * skipped and does not say which test it was in when it waits for ever.
 */
import { writeSync } from 'node:fs';
import { test } from 'uvu';
import { SKIPPED_MARK } from './judge.ts';

const skip = test.skip;
test.skip = (...args) => {
  writeSync(1, `${SKIPPED_MARK}${String(args[0])}\n`);
  return skip(...args);
};

let running = '';
test.before.each((state: { __test__?: string }) => {
  running = state.__test__ ?? '';
});
test.after.each(() => {
  running = '';
});
process.on('exit', () => {
  if (running !== '') writeSync(2, `the process ended in the middle of "${running}"\n`);
});
