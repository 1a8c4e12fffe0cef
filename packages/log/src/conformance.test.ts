import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import { testLogConformance } from './conformance.ts';
import { classicStore, type Store } from './store.ts';
import { memoryStore } from './testing/memory-store.ts';

const openIn = (makeStore: (directory: string) => Store) => async () => {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-conformance-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  return { store: makeStore(directory), directory, remove };
};

testLogConformance(
  'classic-level',
  openIn((directory) => classicStore(directory)),
);
testLogConformance('memory-level', openIn(memoryStore));

test.run();
