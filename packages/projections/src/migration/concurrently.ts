/**
 * Does something with each item, a bounded number at a time. After a failure nothing new is begun; what is
 * under way is waited for, then the first error is thrown.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  inFlightMax: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (!failed && next < items.length) {
      const item = items[next] as Item;
      next += 1;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(inFlightMax, items.length) }, worker);
  const settled = await Promise.allSettled(workers);
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
}
