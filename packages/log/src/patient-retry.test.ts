import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PatientRetry } from './patient-retry.ts';
import { ManualTimer } from './testing/manual-timer.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(attempt: () => Promise<boolean>, isWorthwhile = async () => true) {
  const timer = new ManualTimer();
  const retry = new PatientRetry({
    ...{ after: timer.after, delayMs: 10, delayMsMax: 100 },
    ...{ attempt, isWorthwhile },
  });
  const pass = async () => {
    timer.fire();
    await settle();
  };
  return { timer, retry, pass };
}

test('retry: each failed attempt doubles the delay up to the most, and success ends it', async () => {
  let attempts = 0;
  const { timer, retry, pass } = setUp(async () => {
    attempts += 1;
    return attempts === 6;
  });
  retry.begin();
  retry.begin();
  for (let round = 0; round < 8; round++) await pass();
  assert.equal(timer.delaysMs, [10, 20, 40, 80, 100, 100]);
  assert.is(attempts, 6);
  attempts = 5;
  retry.begin();
  assert.is(timer.delaysMs.at(-1), 100, 'what fails again at once was no success');
  await pass();
  retry.worked();
  retry.begin();
  assert.is(timer.delaysMs.at(-1), 10);
  await retry.stop();
});

test('retry: nothing is tried, and no patience lost, before it is worthwhile', async () => {
  let attempts = 0;
  let isWorthwhile = false;
  const { timer, retry, pass } = setUp(
    async () => {
      attempts += 1;
      return true;
    },
    async () => isWorthwhile,
  );
  retry.begin();
  for (let round = 0; round < 3; round++) await pass();
  assert.is(attempts, 0);
  isWorthwhile = true;
  await pass();
  assert.is(attempts, 1);
  assert.equal(timer.delaysMs, [10, 10, 10, 10]);
  assert.is(timer.waiting, 0);
});

test('retry: where it cannot be told whether it is worthwhile, it is tried', async () => {
  let attempts = 0;
  const { retry, pass } = setUp(
    async () => {
      attempts += 1;
      return true;
    },
    async () => {
      throw new Error('no such call');
    },
  );
  retry.begin();
  await pass();
  assert.is(attempts, 1);
});

test('retry: what is asked for while an attempt is under way is not forgotten', async () => {
  let finish: (isOver: boolean) => void = () => undefined;
  const { timer, retry, pass } = setUp(() => new Promise((resolve) => (finish = resolve)));
  retry.begin();
  await pass();
  retry.begin();
  finish(true);
  await settle();
  assert.is(timer.waiting, 1);
  await retry.stop();
  assert.is(timer.waiting, 0);
  retry.begin();
  assert.is(timer.waiting, 0, 'after the stop nothing begins');
});

test.run();
