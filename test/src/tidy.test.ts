/** The house rules, held against the workspace itself. Each rule's own tests are in `tidy/`. */
import { fileURLToPath } from 'node:url';
import { catalogue, ERROR_CODES, operations } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { boundaryViolations, eventTypeViolations } from './tidy/boundaries.ts';
import { dependencyViolations, registryViolations, undocumentedDependencies } from './tidy/dependencies.ts';
import { topLevelViolations, unlistedNames } from './tidy/document-rules.ts';
import { installedDependencies, licenceViolations } from './tidy/licences.ts';
import { manifestsOf, readWorkspace, type Violation } from './tidy/source-file.ts';
import {
  looseTypeViolations,
  sizeViolations,
  testFileViolations,
  textViolations,
} from './tidy/text-rules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = readWorkspace(root);

function holds(violations: Violation[]): void {
  if (violations.length === 0) return;
  // Where a rule was checked says nothing about where it is broken.
  throw Object.assign(new Error(violations.join('\n    ')), { stack: '' });
}

test('tidy: the workspace was found', () => {
  const paths = files.map(({ path }) => path);
  assert.ok(paths.includes('packages/events/src/errors.ts'));
  assert.ok(paths.includes('test/src/tidy.test.ts'));
});

test('tidy: imports point one way, through the doors', () => holds(boundaryViolations(files)));

test('tidy: the log knows no event type', () => holds(eventTypeViolations(files, Object.keys(catalogue))));

test('tidy: manifests say what is imported', () => holds(dependencyViolations(files)));

test('tidy: every dependency has its reason', () => holds(undocumentedDependencies(files)));

test('tidy: no file names a registry', () => holds(registryViolations(files)));

test('tidy: files are short', () => holds(sizeViolations(files)));

test('tidy: every test file runs, and runs whole', () => holds(testFileViolations(files)));

test('tidy: nothing is unfinished, of one machine, or talks where it should not', () =>
  holds(textViolations(files)));

test('tidy: types are strict', () => holds(looseTypeViolations(files)));

test('tidy: what a reader looks for is there', () => holds(topLevelViolations(files)));

test('tidy: README.md lists every error code', () =>
  holds(unlistedNames(files, 'error code', Object.keys(ERROR_CODES))));

test('tidy: README.md lists every operation', () =>
  holds(unlistedNames(files, 'operation', Object.keys(operations))));

test('tidy: licences of what runs ask for no more than to be named', () => {
  const packages = manifestsOf(files).filter(({ directory }) => /^(packages|services)\//.test(directory));
  const installed = installedDependencies(packages.map(({ directory }) => `${root}/${directory}`));
  assert.ok(installed.length > packages.length);
  holds(licenceViolations(installed));
});

test.run();
