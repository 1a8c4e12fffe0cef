import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Violation } from './source-file.ts';

/** Licences that ask for no more than to be named. */
const ALLOWED = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
]);

/** @param expression as SPDX writes it: `MIT`, `(MIT OR GPL-3.0)`, `MIT AND ISC` */
export function isAllowedLicence(expression: unknown): boolean {
  if (typeof expression !== 'string') return false;
  return expression
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => ALLOWED.has(licence.trim())));
}

interface InstalledManifest {
  name: string;
  version: string;
  license?: unknown;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/**
 * Everything installed that these packages need to run, and what that needs in turn. An optional package
 * that is not for this machine is not installed and not there.
 * @param directories of the workspace's packages
 */
export function installedDependencies(directories: string[]): InstalledManifest[] {
  const seen = new Map<string, InstalledManifest>();
  const waiting = directories.map((directory) => realpathSync(directory));
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    if (seen.has(directory)) continue;
    const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as InstalledManifest;
    seen.set(directory, manifest);
    const { dependencies = {}, optionalDependencies = {} } = manifest;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const installed = findInstalled(directory, name);
      if (installed !== undefined) waiting.push(installed);
      else if (!Object.hasOwn(optionalDependencies, name)) {
        throw new Error(`${manifest.name} needs ${name}, which is not installed`);
      }
    }
  }
  return [...seen.values()];
}

/** As Node.js looks for a package: in the `node_modules` of the directory, then of those above it. */
function findInstalled(directory: string, name: string): string | undefined {
  for (let place = directory; ; place = dirname(place)) {
    const candidate = join(place, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (place === dirname(place)) return undefined;
  }
}

export function licenceViolations(manifests: InstalledManifest[]): Violation[] {
  return manifests
    .filter(({ license }) => !isAllowedLicence(license))
    .map(
      ({ name, version, license }) =>
        `${name}@${version}: its licence ${JSON.stringify(license)} is not allowed`,
    );
}
