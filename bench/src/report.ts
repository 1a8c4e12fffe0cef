/** One measured figure. */
export interface Figure {
  name: string;
  value: number;
  unit: 'events/s' | 'ms' | 'ratio';
  /** What it must be at least; at most where less is better. */
  must?: number;
  /** What it should come to. */
  reach?: number;
  lessIsBetter?: boolean;
}

export function isMet({ value, must, lessIsBetter = false }: Figure): boolean | undefined {
  if (must === undefined) return undefined;
  return lessIsBetter ? value <= must : value >= must;
}

export function toJson(figures: readonly Figure[]): string {
  const list = figures.map((figure) => ({
    name: figure.name,
    value: figure.value,
    unit: figure.unit,
    must: figure.must,
    reach: figure.reach,
    met: isMet(figure),
  }));
  return `${JSON.stringify(list, null, 2)}\n`;
}

export function toTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const met = isMet(figure);
    return [
      figure.name,
      `${figure.value.toLocaleString('en-US', { maximumFractionDigits: figure.unit === 'events/s' ? 0 : 2 })} ${figure.unit}`,
      figure.must === undefined ? '' : `${figure.lessIsBetter ? '≤' : '≥'} ${figure.must}`,
      figure.reach === undefined ? '' : String(figure.reach),
      met === undefined ? '' : met ? 'met' : 'MISSED',
    ];
  });
  const all = [['what', 'measured', 'must', 'reach for', ''], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
