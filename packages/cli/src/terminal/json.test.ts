import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { formatJson, formatJsonLine } from './json.ts';

test('json: indented or on one line, and the same value', () => {
  const value = { key: 'a\u202eb\u009b\n', rows: [1] };
  assert.is(formatJson(value), '{\n  "key": "a\\u202eb\\u009b\\n",\n  "rows": [\n    1\n  ]\n}\n');
  assert.is(formatJsonLine(value), '{"key":"a\\u202eb\\u009b\\n","rows":[1]}\n');
  assert.equal(JSON.parse(formatJson(value)), value);
  assert.equal(JSON.parse(formatJsonLine(value)), value);
});

test('json: what JSON cannot hold is null', () => {
  assert.is(formatJson(undefined), 'null\n');
});

test.run();
