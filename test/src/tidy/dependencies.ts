import {
  importsOf,
  isTestCode,
  isTypeScript,
  type Manifest,
  manifestsOf,
  packageNameOf,
  packageOf,
  type SourceFile,
  type Violation,
} from './source-file.ts';

/** What a package imports is what its manifest says, no more and no less, and its project references too. */
export function dependencyViolations(files: SourceFile[]): Violation[] {
  const manifests = manifestsOf(files);
  const root = manifests.find(({ directory }) => directory === '.');
  return manifests
    .filter(({ directory }) => directory !== '.')
    .flatMap((manifest) => [
      ...importViolations(manifest, files, root),
      ...referenceViolations(manifest, files, manifests),
    ]);
}

function importViolations(manifest: Manifest, files: SourceFile[], root: Manifest | undefined): Violation[] {
  const own = files.filter((file) => isTypeScript(file) && packageOf(file.path) === manifest.directory);
  const usedBy = new Map<string, SourceFile[]>();
  for (const file of own) {
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) continue;
      const name = packageNameOf(specifier);
      usedBy.set(name, [...(usedBy.get(name) ?? []), file]);
    }
  }
  const { dependencies, devDependencies, directory } = manifest;
  const missing = [...usedBy].flatMap(([name, users]) =>
    users
      .filter(({ path }) => !Object.hasOwn(dependencies, name) && !(isTestCode(path) && isForTests(name)))
      .map(({ path }) => `${path}: ${name} is no dependency of ${directory}/package.json`),
  );
  const unused = Object.keys({ ...dependencies, ...devDependencies })
    .filter((name) => !name.startsWith('@types/') && !usedBy.has(name) && !isCrossing(directory))
    .map((name) => `${directory}/package.json: ${name} is a dependency that nothing imports`);
  const onlyInTests = Object.keys(dependencies)
    .filter((name) => usedBy.get(name)?.every(({ path }) => isTestCode(path)) && !isCrossing(directory))
    .map((name) => `${directory}/package.json: ${name} is used by tests only, so it is a devDependency`);
  return [...new Set([...missing, ...unused, ...onlyInTests])];

  function isForTests(name: string): boolean {
    return Object.hasOwn(devDependencies, name) || Object.hasOwn(root?.devDependencies ?? {}, name);
  }
}

/** Tests of the whole see every package, whether one of them imports it or starts it. */
function isCrossing(directory: string): boolean {
  return directory === 'test' || directory === 'bench';
}

/** `tsc --build` follows project references, so a missing one would build in the wrong order. */
function referenceViolations(manifest: Manifest, files: SourceFile[], manifests: Manifest[]): Violation[] {
  const path = `${manifest.directory}/tsconfig.json`;
  const config = files.find((file) => file.path === path);
  if (config === undefined) return [];
  const { references = [] } = JSON.parse(config.text) as { references?: { path: string }[] };
  const actual = new Set(references.map((reference) => reference.path.replace(/^(\.\.\/)+/, '')));
  const expected = manifests
    .filter(({ name }) => Object.hasOwn(manifest.dependencies, name))
    .map(({ directory }) => directory);
  return expected
    .filter((directory) => !actual.has(directory))
    .map((directory) => `${path}: does not refer to ${directory}, which is a dependency`);
}

/** Nothing is depended on without its reason being written down. */
export function undocumentedDependencies(files: SourceFile[]): Violation[] {
  const architecture = files.find(({ path }) => path === 'ARCHITECTURE.md')?.text ?? '';
  const manifests = manifestsOf(files);
  const own = new Set(manifests.map(({ name }) => name));
  const names = manifests.flatMap(({ dependencies, devDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies }),
  );
  return [...new Set(names)]
    .filter((name) => !own.has(name) && !name.startsWith('@types/') && !architecture.includes(`\`${name}\``))
    .map((name) => `ARCHITECTURE.md: does not say why there is a dependency on \`${name}\``);
}

/** Packages come from whatever registry the reader uses: no file of ours names one. */
export function registryViolations(files: SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => path === 'pnpm-lock.yaml' || path.endsWith('.npmrc'))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) =>
          /\b(tarball|resolved|registry)\b.*https?:|registry\s*=|registry\.\w+\.\w+/.test(line),
        )
        .map((line) => `${path}: names a registry: ${line.trim()}`),
    );
}
