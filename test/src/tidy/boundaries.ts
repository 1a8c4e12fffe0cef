import {
  importsOf,
  isTypeScript,
  type Manifest,
  manifestsOf,
  packageNameOf,
  packageOf,
  type SourceFile,
  targetOf,
  type Violation,
} from './source-file.ts';

/** Which packages of the workspace each one may import. Imports point one way. */
export const ARROWS: Readonly<Record<string, readonly string[]>> = {
  '@turnlog/events': [],
  '@turnlog/log': ['@turnlog/events'],
  '@turnlog/projections': ['@turnlog/events', '@turnlog/log'],
  '@turnlog/bridge': ['@turnlog/events'],
  '@turnlog/providers': ['@turnlog/events', '@turnlog/bridge'],
  '@turnlog/client': ['@turnlog/events'],
  '@turnlog/transcript-cache': ['@turnlog/events'],
  '@turnlog/turnlogd': [
    '@turnlog/events',
    '@turnlog/log',
    '@turnlog/projections',
    '@turnlog/bridge',
    '@turnlog/providers',
  ],
  '@turnlog/console': ['@turnlog/events', '@turnlog/client'],
  // The command also starts the daemon, and opens a directory itself where no daemon runs.
  turnlog: ['@turnlog/events', '@turnlog/client', '@turnlog/turnlogd'],
};

/** Packages that cross all the others, and that nobody imports. */
const CROSSING = new Set(['@turnlog/test', '@turnlog/bench']);

/** Libraries that speak to the outside; only these packages may. */
const TRANSPORTS = new Set(['fastify', 'ws', 'nats']);
const TRANSPORT_USERS = new Set(['@turnlog/turnlogd', '@turnlog/client', '@turnlog/console']);

/** Imports between packages go along the arrows and through doors; imports within one stay within it. */
export function boundaryViolations(files: SourceFile[]): Violation[] {
  const manifests = new Map(manifestsOf(files).map((manifest) => [manifest.directory, manifest]));
  const byName = new Map([...manifests.values()].map((manifest) => [manifest.name, manifest]));
  return files.filter(isTypeScript).flatMap((file) => {
    const importer = manifests.get(packageOf(file.path) ?? '');
    if (importer === undefined) return [`${file.path}: belongs to no package`];
    return importsOf(file).flatMap((specifier) => {
      const problem = specifier.startsWith('.')
        ? relativeProblem(file.path, specifier)
        : packageProblem(importer, specifier, byName);
      return problem === undefined ? [] : [`${file.path}: ${problem}`];
    });
  });
}

function relativeProblem(path: string, specifier: string): string | undefined {
  if (packageOf(targetOf(path, specifier)) !== packageOf(path)) return `${specifier} leaves the package`;
  if (!/\.(ts|json)$/.test(specifier)) return `${specifier} does not end in .ts`;
  return undefined;
}

function packageProblem(
  importer: Manifest,
  specifier: string,
  byName: Map<string, Manifest>,
): string | undefined {
  const name = packageNameOf(specifier);
  if (TRANSPORTS.has(name) && !TRANSPORT_USERS.has(importer.name) && !CROSSING.has(importer.name)) {
    return `${importer.name} must know no transport, and imports ${specifier}`;
  }
  const imported = byName.get(name);
  if (imported === undefined) return undefined;
  if (imported.name === importer.name) return `${specifier} is the package itself`;
  const allowed = ARROWS[importer.name];
  if (CROSSING.has(imported.name) || (!CROSSING.has(importer.name) && !allowed?.includes(name))) {
    return `${importer.name} must not import ${name}`;
  }
  const door = specifier === name ? '.' : `.${specifier.slice(name.length)}`;
  return Object.hasOwn(imported.exports, door) ? undefined : `${specifier} is no door of ${name}`;
}

/** The log carries events and knows none of them: not one of their names is in its sources. */
export function eventTypeViolations(files: SourceFile[], eventTypes: readonly string[]): Violation[] {
  return files
    .filter(
      ({ path }) =>
        path.startsWith('packages/log/src/') && !path.endsWith('.test.ts') && !path.includes('/testing/'),
    )
    .flatMap(({ path, text }) =>
      eventTypes
        .filter((type) => new RegExp(`['"\`]${type}['"\`]`).test(text))
        .map((type) => `${path}: the log knows no event type, and names ${type}`),
    );
}
