import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hasCode, reportOf } from './coverage.ts';

const lines = (covered: number, total: number) => ({
  lines: { covered, total, pct: (100 * covered) / total },
});

test('coverage: enough of it is no failure, and files below the limit are named', () => {
  const report = reportOf({ total: lines(95, 100), '/root/packages/a/src/x.ts': lines(1, 4) }, '/root');
  assert.is(report.failure, undefined);
  assert.match(report.lines.join('\n'), /25\.0 % {2}packages\/a\/src\/x\.ts/);
});

test('coverage: too little of it is a failure', () => {
  assert.match(reportOf({ total: lines(899, 1000) }, '/root').failure ?? '', /89\.9 %/);
  assert.is(reportOf({ total: lines(900, 1000) }, '/root').failure, undefined);
});

test('coverage: measuring nothing is a failure', () => {
  assert.match(reportOf({}, '/root').failure ?? '', /nothing/);
  assert.match(
    reportOf({ total: { lines: { covered: 0, total: 0, pct: 'Unknown' } } }, '/root').failure ?? '',
    /nothing/,
  );
});

test('coverage: only what leaves something to run is asked for', () => {
  assert.not(hasCode(`import type { A } from './a.ts';\n/** A note. */\nexport interface B extends A {}\n`));
  assert.ok(hasCode(`export interface B {}\nexport const b = 1;\n`));
  assert.ok(hasCode(`export * from './a.ts';\n`));
});

test.run();
