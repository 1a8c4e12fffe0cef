import { suite } from 'uvu';
import { openLog } from './open-log.ts';
import type { Store } from './store.ts';
import { checkAppends } from './testing/conformance-appends.ts';
import { checkReads } from './testing/conformance-reads.ts';
import type { ConformanceCheck } from './testing/conformance-support.ts';

export { type Damage, damagesOf } from './testing/conformance-damages.ts';

/** A store under test and the directory for the files beside it. */
export interface ConformanceStore {
  store: Store;
  directory: string;
  /** Takes everything away. */
  remove(): Promise<void>;
}

/** What every store must let the log do. Registers and runs a uvu suite. */
export function testLogConformance(name: string, openStore: () => Promise<ConformanceStore>): void {
  const test = suite(name);

  const check: ConformanceCheck = (title, run) => {
    test(title, async () => {
      const { store, directory, remove } = await openStore();
      const open = () => openLog({ directory, store, clock: () => 1_700_000_000_000, bootId: 'boot-1' });
      let log = await open();
      try {
        await run(log, async () => {
          await log.close();
          log = await open();
          return log;
        });
      } finally {
        await log.close();
        await remove();
      }
    });
  };

  checkAppends(check);
  checkReads(check);
  test.run();
}
