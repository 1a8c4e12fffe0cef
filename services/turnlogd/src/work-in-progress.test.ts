import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WorkInProgress } from './work-in-progress.ts';

test('work in progress: is listed with how far it is, until it ends, also in failure', async () => {
  const work = new WorkInProgress(() => 7);
  const seen: unknown[] = [];
  const answer = await work.run('projections.rebuild', async (report) => {
    seen.push(work.list());
    report(3, 10);
    await work
      .run('log.verify', async () => {
        seen.push(work.list());
        throw new Error('broken');
      })
      .catch(() => {});
    seen.push(work.list());
    return 'done';
  });
  assert.is(answer, 'done');
  const rebuild = { operation: 'projections.rebuild', done: 3, total: 10, since: 7 };
  assert.equal(seen, [
    [{ ...rebuild, done: 0, total: 0 }],
    [rebuild, { operation: 'log.verify', done: 0, total: 0, since: 7 }],
    [rebuild],
  ]);
  assert.equal(work.list(), []);
});

test.run();
