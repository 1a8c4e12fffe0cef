import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Interrupted, interruptible, unlessAborted } from './interrupt.ts';

const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.unreachable('it throws'),
    (error: unknown) => error,
  );

test('interrupt: a task that ends by itself leaves no listener behind', async () => {
  assert.is(await interruptible(async () => 7), 7);
  const failure = new Error('failed');
  assert.is(await thrownBy(interruptible(async () => Promise.reject(failure))), failure);
  assert.is(process.listenerCount('SIGINT') + process.listenerCount('SIGTERM'), 0);
});

test('interrupt: the signal tells the task, and what it throws then is the interruption', async () => {
  for (const [name, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const error = await thrownBy(
      interruptible(async (signal) => {
        process.kill(process.pid, name);
        await unlessAborted(delay(60_000, undefined, { signal }), signal);
      }),
    );
    assert.instance(error, Interrupted);
    assert.is((error as Interrupted).exitCode, exitCode);
    assert.is(process.listenerCount(name), 0);
  }
});

test('interrupt: what nobody waits for any more may fail unheard', async () => {
  const controller = new AbortController();
  const reason = new Error('stopped');
  controller.abort(reason);
  const failing = new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 5));
  assert.is(await thrownBy(unlessAborted(failing, controller.signal)), reason);
  await new Promise((resolve) => setTimeout(resolve, 15));
});

test.run();
