/**
 * Does something with each item, a bounded number at a time. After a failure nothing new is begun; what is
 * under way is waited for, then the first error is thrown.
 * @returns the results in the order of the items
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  inFlightMax: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (!failed && next < items.length) {
      const place = next;
      next += 1;
      try {
        results[place] = await work(items[place] as Item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(inFlightMax, items.length) }, worker);
  const settled = await Promise.allSettled(workers);
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
  return results;
}
