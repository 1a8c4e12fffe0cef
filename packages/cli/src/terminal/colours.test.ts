import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coloursFor } from './colours.ts';

test('colours: on a terminal', () => {
  assert.is(coloursFor({ isTTY: true }, {}).red('a'), '\u001b[31ma\u001b[39m');
  assert.is(coloursFor({ isTTY: true }, { NO_COLOR: '' }).red('a'), '\u001b[31ma\u001b[39m');
});

test('colours: none in a file or a pipe, whatever the environment forces', () => {
  assert.is(coloursFor({ isTTY: false }, { FORCE_COLOR: '1' }).red('a'), 'a');
  assert.is(coloursFor({}, {}).red('a'), 'a');
});

test('colours: none with NO_COLOR', () => {
  assert.is(coloursFor({ isTTY: true }, { NO_COLOR: '1', FORCE_COLOR: '1' }).bold('a'), 'a');
});

test.run();
