import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createAccess } from './access.ts';

const access = createAccess({ callerOf: () => undefined }, 7717, ['turnlog.example']);

function isRefused(headers: { host?: string; origin?: string }): boolean {
  try {
    access.checkOrigin(headers);
    return false;
  } catch (error) {
    assert.is((error as { code: string }).code, 'forbidden_origin');
    return true;
  }
}

test('access: by its own names, and by a loopback name through a forwarded port', () => {
  for (const host of [
    '127.0.0.1:7717',
    'LOCALHOST:7717',
    '[::1]:7717',
    'turnlog.example:7717',
    'localhost:9000',
  ]) {
    assert.not.ok(isRefused({ host }), host);
  }
});

test('access: not by a foreign name, and not for a page of another port', () => {
  const foreign = [
    'evil.example:7717',
    'turnlog.example:9000',
    '127.0.0.1',
    '127.0.0.1.evil.example:7717',
    'x:1',
  ];
  for (const host of foreign) assert.ok(isRefused({ host }), host);
  assert.ok(isRefused({}));
  assert.ok(isRefused({ host: 'localhost:9000', origin: 'http://localhost:9000' }));
  assert.not.ok(isRefused({ host: 'localhost:9000', origin: 'http://localhost:7717' }));
});

test.run();
