import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startProgress } from './progress.ts';

function output(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  return { stream, text: () => stream.read()?.toString() ?? '' };
}

test('progress: silent where nobody watches', () => {
  const { stream, text } = output(false);
  const progress = startProgress(stream, 'reading', 10);
  progress.update(5);
  progress.stop();
  assert.is(text(), '');
});

test('progress: a bar on a terminal, with safe text, taken away at the end', async () => {
  const { stream, text } = output(true);
  const progress = startProgress(stream, 'reading\u001b[2J', 10);
  assert.match(text(), /reading\\x1b\[2J {2}\[░+\] {2}0 of 10/);
  progress.update(5, 'writing');
  // The bar draws itself at most so often.
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.match(text(), /writing {2}\[█+░+\] {2}5 of 10/);
  progress.stop();
  progress.stop();
  // The last thing it does is to clear its line and to show the cursor again.
  assert.match(text(), /\u001b\[0K|\u001b\[K|\u001b\[2K|\u001b\[0J/);
});

test('progress: it ends with its scope, also on failure', () => {
  const { stream, text } = output(true);
  assert.throws(() => {
    using progress = startProgress(stream, 'reading', 10);
    progress.update(1);
    throw new Error('disk full');
  }, /disk full/);
  assert.match(text(), /\u001b\[\?25h/);
});

test.run();
