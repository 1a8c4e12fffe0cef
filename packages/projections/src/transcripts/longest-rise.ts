/**
 * The indexes of a longest rising subsequence of distinct numbers, in order: of rows that changed places,
 * the most that can be said to have stayed.
 */
export function longestRise(numbers: readonly number[]): number[] {
  /** For each length the index at which a rise of that length ends lowest. */
  const ends: number[] = [];
  const before = new Array<number | undefined>(numbers.length).fill(undefined);
  numbers.forEach((value, index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((numbers[ends[middle] as number] as number) < value) low = middle + 1;
      else high = middle;
    }
    before[index] = low === 0 ? undefined : ends[low - 1];
    ends[low] = index;
  });
  const rise: number[] = [];
  for (let index = ends.at(-1); index !== undefined; index = before[index]) rise.push(index);
  return rise.reverse();
}
