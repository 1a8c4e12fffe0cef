/** The items in their order, a bounded number at a time. */
export function* inBatches<Item>(items: readonly Item[], itemsMax: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += itemsMax) yield items.slice(from, from + itemsMax);
}
