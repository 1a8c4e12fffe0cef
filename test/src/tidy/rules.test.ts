/** Each house rule is broken once on purpose, to show that it can fail, and kept once. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { boundaryViolations, eventTypeViolations } from './boundaries.ts';
import { dependencyViolations, registryViolations, undocumentedDependencies } from './dependencies.ts';
import { topLevelViolations, unlistedNames } from './document-rules.ts';
import { isAllowedLicence, licenceViolations } from './licences.ts';
import type { SourceFile } from './source-file.ts';
import { looseTypeViolations, sizeViolations, testFileViolations, textViolations } from './text-rules.ts';

const file = (path: string, text: string): SourceFile => ({ path, text });

function manifest(directory: string, name: string, more: object = {}): SourceFile {
  return file(`${directory}/package.json`, JSON.stringify({ name, exports: { '.': {} }, ...more }));
}

const manifests = [
  manifest('packages/events', '@turnlog/events'),
  manifest('packages/log', '@turnlog/log', { exports: { '.': {}, './conformance': {} } }),
  manifest('packages/projections', '@turnlog/projections'),
  manifest('packages/bridge', '@turnlog/bridge'),
  manifest('packages/cli', 'turnlog'),
  manifest('services/turnlogd', '@turnlog/turnlogd'),
  manifest('test', '@turnlog/test'),
];

function boundariesOf(path: string, imported: string): string {
  return boundaryViolations([...manifests, file(path, `import { x } from '${imported}';`)]).join('\n');
}

test('boundaries: imports along the arrows are kept', () => {
  for (const [path, imported] of [
    ['packages/log/src/a.ts', '@turnlog/events'],
    ['packages/projections/src/a.ts', '@turnlog/log'],
    ['packages/projections/src/a.test.ts', '@turnlog/log/conformance'],
    ['packages/cli/src/a.ts', '@turnlog/turnlogd'],
    ['services/turnlogd/src/a.ts', 'fastify'],
    ['packages/log/src/deep/a.ts', '../b.ts'],
    ['packages/log/src/a.ts', 'node:fs'],
    ['test/src/a.ts', 'turnlog'],
  ] as const) {
    assert.is(boundariesOf(path, imported), '', `${path} ${imported}`);
  }
});

test('boundaries: imports against the arrows are found', () => {
  assert.match(
    boundariesOf('packages/events/src/a.ts', '@turnlog/log'),
    /@turnlog\/events must not import @turnlog\/log/,
  );
  assert.match(boundariesOf('packages/bridge/src/a.ts', '@turnlog/log'), /must not import/);
  assert.match(boundariesOf('packages/log/src/a.test.ts', '@turnlog/projections'), /must not import/);
  assert.match(boundariesOf('services/turnlogd/src/a.ts', 'turnlog'), /must not import/);
  assert.match(boundariesOf('packages/cli/src/a.ts', '@turnlog/test'), /must not import/);
  assert.match(boundariesOf('packages/projections/src/a.ts', 'ws'), /must know no transport/);
});

test('boundaries: types, exports and dynamic imports are imports', () => {
  for (const text of [
    `import type { A } from '@turnlog/log';`,
    `export * from '@turnlog/log';`,
    `const log = await import('@turnlog/log');`,
    `let a: import('@turnlog/log').A;`,
  ]) {
    const found = boundaryViolations([...manifests, file('packages/events/src/a.ts', text)]);
    assert.is(found.length, 1, text);
  }
});

test('boundaries: leaving the package, another door and a missing ending are found', () => {
  assert.match(boundariesOf('packages/projections/src/a.ts', '../../log/src/a.ts'), /leaves the package/);
  assert.match(boundariesOf('packages/projections/src/a.ts', '@turnlog/log/src/a.ts'), /no door/);
  assert.match(boundariesOf('packages/log/src/a.ts', '@turnlog/log'), /the package itself/);
  assert.match(boundariesOf('packages/log/src/a.ts', './b.js'), /does not end in \.ts/);
});

test('boundaries: an event type in the log is found, in its tests it may be', () => {
  const source = `if (event.type === 'turn_started') skip();`;
  assert.is(eventTypeViolations([file('packages/log/src/a.ts', source)], ['turn_started']).length, 1);
  assert.is(eventTypeViolations([file('packages/log/src/a.test.ts', source)], ['turn_started']).length, 0);
  assert.is(eventTypeViolations([file('packages/bridge/src/a.ts', source)], ['turn_started']).length, 0);
});

function dependenciesOf(manifestParts: object, path: string, text: string): string {
  const root = file('package.json', JSON.stringify({ name: 'root', devDependencies: { uvu: '1' } }));
  return dependencyViolations([
    root,
    manifest('packages/a', '@turnlog/a', manifestParts),
    file(path, text),
  ]).join('\n');
}

test('dependencies: what is imported and declared is kept', () => {
  assert.is(
    dependenciesOf({ dependencies: { pino: '1' } }, 'packages/a/src/a.ts', `import pino from 'pino';`),
    '',
  );
  assert.is(dependenciesOf({}, 'packages/a/src/a.test.ts', `import { test } from 'uvu';`), '');
  assert.is(dependenciesOf({}, 'packages/a/src/a.ts', `import { join } from 'node:path';`), '');
});

test('dependencies: missing, unused and misplaced ones are found', () => {
  const uses = `import { pino } from 'pino';`;
  assert.match(dependenciesOf({}, 'packages/a/src/a.ts', uses), /pino is no dependency/);
  assert.match(
    dependenciesOf({ devDependencies: { pino: '1' } }, 'packages/a/src/a.ts', uses),
    /pino is no dependency/,
  );
  assert.match(
    dependenciesOf({}, 'packages/a/src/a.ts', `import { test } from 'uvu';`),
    /uvu is no dependency/,
  );
  assert.match(dependenciesOf({ dependencies: { pino: '1' } }, 'packages/a/src/a.ts', ''), /nothing imports/);
  assert.match(
    dependenciesOf({ dependencies: { pino: '1' } }, 'packages/a/src/a.test.ts', uses),
    /devDependency/,
  );
});

test('dependencies: a project reference that is missing is found', () => {
  const files = [
    manifest('packages/events', '@turnlog/events'),
    manifest('packages/a', '@turnlog/a', { dependencies: { '@turnlog/events': 'workspace:*' } }),
    file('packages/a/src/a.ts', `import '@turnlog/events';`),
  ];
  const config = (references: object[]) => file('packages/a/tsconfig.json', JSON.stringify({ references }));
  assert.match(dependencyViolations([...files, config([])]).join(), /does not refer to packages\/events/);
  assert.equal(dependencyViolations([...files, config([{ path: '../../packages/events' }])]), []);
});

test('dependencies: one without a written reason is found', () => {
  const declared = manifest('packages/a', '@turnlog/a', {
    dependencies: { pino: '1' },
    devDependencies: { '@types/x': '1' },
  });
  assert.is(undocumentedDependencies([declared]).length, 1);
  assert.is(undocumentedDependencies([declared, file('ARCHITECTURE.md', 'pino')]).length, 1);
  assert.is(undocumentedDependencies([declared, file('ARCHITECTURE.md', '`pino`: logs')]).length, 0);
});

test('registries: one that is named is found, an integrity is none', () => {
  const host = 'registry.example.org';
  assert.is(
    registryViolations([file('pnpm-lock.yaml', `resolution: {tarball: https://${host}/a.tgz}`)]).length,
    1,
  );
  assert.is(registryViolations([file('.npmrc', `registry=https://${host}/`)]).length, 1);
  assert.is(registryViolations([file('packages/a/.npmrc', `@a:registry=https://mirror/`)]).length, 1);
  assert.is(registryViolations([file('pnpm-lock.yaml', 'resolution: {integrity: sha512-abc==}')]).length, 0);
});

test('sizes: too long a file is found, unless it is an exception', () => {
  const lines = (count: number) => 'x\n'.repeat(count);
  const path = 'packages/a/src/a.ts';
  assert.is(sizeViolations([file(path, lines(250))], {}).length, 0);
  assert.is(sizeViolations([file(path, lines(251))], {}).length, 1);
  assert.is(sizeViolations([file(path, lines(251))], { [path]: 'a table' }).length, 0);
  assert.is(sizeViolations([], { [path]: 'a table' }).length, 1);
  assert.is(sizeViolations([file('packages/a/src/a.test.ts', lines(400))], {}).length, 0);
  assert.is(sizeViolations([file('packages/a/src/a.test.ts', lines(401))], {}).length, 1);
});

test('test files: one that does not run, or not whole, is found', () => {
  const found = (text: string) => testFileViolations([file('packages/a/src/a.test.ts', text)]).length;
  assert.is(found(`test('a', () => {});\ntest.run();\n`), 0);
  assert.is(found(`test('a', () => {});\n// test.run();\n`), 1);
  assert.is(found(`test.${'only'}('a', () => {});\ntest.run();\n`), 1);
});

test('text: unfinished work, places and console output are found, with their line', () => {
  const found = (path: string, text: string) => textViolations([file(path, text)]).join('\n');
  assert.match(
    found('packages/a/src/a.ts', `\n// ${'TO'}DO: later`),
    /^packages\/a\/src\/a\.ts:2: has a note/,
  );
  assert.match(found('README.md', `${'FIX'}ME`), /has a note/);
  assert.match(found('scripts/a.mjs', `read('${'/wo'}rk/shared')`), /of one machine/);
  assert.match(found('packages/a/src/a.ts', `// @ts-${'ignore'}`), /type checker/);
  assert.match(found('packages/a/src/a.ts', `console.log(1)`), /console/);
  assert.is(found('packages/cli/src/a.ts', `console.log(1)`), '');
  assert.is(found('packages/a/src/a.test.ts', `console.log(1)`), '');
  assert.is(found('README.md', 'a /workspace, a frame/work, todo'), '');
});

test('types: the loose one is found, the word is not', () => {
  const found = (text: string) => looseTypeViolations([file('packages/a/src/a.ts', text)]).length;
  assert.is(found(`let a: ${'any'};`), 1);
  assert.is(found(`const f = (a: Array<${'any'}>) => a as ${'any'};`), 2);
  assert.is(found(`// any\nconst any = 'any'; f(any);`), 0);
});

test('documents: what is missing is found', () => {
  const found = topLevelViolations([file('LICENSE', 'GPL')]);
  assert.ok(found.includes('README.md: is missing'));
  assert.ok(found.includes('LICENSE: is not the MIT licence'));
  const readme = file('README.md', 'the code `too_large` and too_small');
  assert.equal(unlistedNames([readme], 'error code', ['too_large']), []);
  assert.is(unlistedNames([readme], 'error code', ['too_small']).length, 1);
});

test('licences: only those that ask for no more than to be named', () => {
  for (const allowed of ['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC', 'BlueOak-1.0.0'])
    assert.ok(isAllowedLicence(allowed));
  for (const refused of ['GPL-3.0', 'MIT AND GPL-3.0', 'UNLICENSED', '', undefined, { type: 'MIT' }]) {
    assert.not(isAllowedLicence(refused));
  }
  assert.match(licenceViolations([{ name: 'a', version: '1.0.0', license: 'GPL-3.0' }]).join(), /^a@1\.0\.0/);
});

test.run();
