import { ProjectionError } from '../errors.ts';
import { foldInMemory } from './feed.ts';
import type { EngineParts } from './fresh-build.ts';
import type { LiveProjection } from './live-projection.ts';
import type { TableReader } from './projection.ts';
import type { Slot } from './slot.ts';
import type { ReadResult } from './status.ts';

/**
 * Reads of a store that takes no more writes: what the log holds above its checkpoint is folded in memory, so
 * that a read sees everything acknowledged before it. Nothing of it is kept: when the store is opened again
 * the same events are folded into its rows.
 */
export class UnwrittenTail {
  readonly #parts: EngineParts;
  readonly #foldedSeqs = new Map<Slot, number>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /**
   * Runs a task on the tables as they are at a seq. Nothing moves them meanwhile, so the task must not read
   * the projections again.
   * @throws ProjectionError why nothing can be written, where too much would have to be folded
   */
  async read<Value>(
    { slot }: LiveProjection,
    seq: number,
    task: (tables: TableReader) => Value | Promise<Value>,
  ): Promise<ReadResult<Value>> {
    const { commitLock, store, limits } = this.#parts;
    if (seq - slot.checkpoint > limits.unwrittenEventsMax) throw store.failure ?? behind(slot, seq);
    return await commitLock.run(async () => {
      const from = (this.#foldedSeqs.get(slot) ?? slot.checkpoint) + 1;
      // Forgotten until it is known to have worked: a fold that fails leaves nothing pending.
      this.#foldedSeqs.delete(slot);
      await foldInMemory(this.#parts, slot, from, seq);
      const foldedSeq = Math.max(from - 1, seq);
      this.#foldedSeqs.set(slot, foldedSeq);
      return { value: await task(slot.tables), seq: foldedSeq };
    });
  }
}

function behind({ projection, checkpoint }: Slot, seq: number): ProjectionError {
  const message = `${projection.name} is at event ${checkpoint} and cannot be brought to ${seq}`;
  return new ProjectionError('store_failed', message, { projection: projection.name, checkpoint, seq });
}
