import { assignSlots } from './assign-slots.ts';
import { Engine } from './engine.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { ProjectionsOptions } from './open-projections.ts';
import { openStore } from './opening.ts';

/** What an engine tells the one who opened it. */
export interface EngineHooks {
  /** Something keeps it from following the log that opening it anew may mend. */
  onTrouble(): void;
  /** It has written, which shows that it can. */
  onWritten(): void;
}

/** Opens the database, gives every projection its slot, and lets them follow the log. */
export async function openEngine(options: ProjectionsOptions, hooks: EngineHooks): Promise<Engine> {
  const { source, projections, onNotice = () => undefined } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const head = source.head();
  const { store, catalogue } = await openStore({ ...options, head, onNotice });
  try {
    const slots = await assignSlots({ store, catalogue, projections, limits, onNotice });
    return new Engine(options, hooks, store, slots, limits, head);
  } catch (error) {
    await store.close();
    if (store.damage === undefined) throw error;
    const message = `the projections are made anew: ${store.damage.message}`;
    onNotice({ reason: 'database_damaged', message });
    await options.database.discard();
    return await openEngine({ ...options, isNew: true }, hooks);
  }
}
