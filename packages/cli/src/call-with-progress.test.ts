import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { callWithProgress } from './call-with-progress.ts';
import type { Context } from './context.ts';
import { Interrupted } from './interrupt.ts';
import type { Target } from './target.ts';
import { Captured } from './testing/run-command.ts';

const TOOK_MS = 900;

/** A daemon that rebuilds for a while and says how far it is. */
function slowTarget(): Target {
  const begun = Date.now();
  const call = async (name: string) => {
    if (name === 'projections.rebuild') {
      await delay(TOOK_MS);
      return { projections: [] };
    }
    const done = Math.floor(((Date.now() - begun) / TOOK_MS) * 100);
    return { work: [{ operation: 'projections.rebuild', done, total: 100, since: begun }] };
  };
  return { call } as unknown as Target;
}

/** Of a context only the stream on which progress is shown is used. */
function contextWith(stderr: Captured): Context {
  return { stderr } as unknown as Context;
}

test('progress of a call: is shown on a terminal as the daemon tells it, and taken away', async () => {
  const stderr = new Captured(true, 80);
  const context = contextWith(stderr);
  const answer = await callWithProgress(context, slowTarget(), 'projections.rebuild', {});
  assert.equal(answer, { projections: [] });
  assert.match(stderr.text, /events {2}\[[█░]+\] {2}\d+ of 100/);
  assert.match(stderr.text, /\u001b\[\?25h/);
});

test('progress of a call: elsewhere nothing is shown', async () => {
  const stderr = new Captured(false, 80);
  await callWithProgress(contextWith(stderr), slowTarget(), 'projections.rebuild', {});
  assert.is(stderr.text, '');
});

test('progress of a call: after Ctrl-C nobody waits for it any more', async () => {
  const stderr = new Captured(true, 80);
  const context = contextWith(stderr);
  const waiting = callWithProgress(context, slowTarget(), 'projections.rebuild', {});
  await stderr.until(/of 100/);
  process.kill(process.pid, 'SIGINT');
  const error = await waiting.then(
    () => assert.unreachable('it is broken off'),
    (thrown: unknown) => thrown,
  );
  assert.instance(error, Interrupted);
  assert.match(stderr.text, /\u001b\[\?25h/);
});

test.run();
