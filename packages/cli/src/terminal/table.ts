import stringWidth from 'string-width';
import { safeLine } from './safe-text.ts';

export interface Column {
  title: string;
  /** Numbers are easier to compare when they end at the same place. */
  align?: 'left' | 'right';
  /** May be cut where the terminal is too narrow; of several the widest is cut first. */
  shrinks?: boolean;
  /** Colours a cell once it has its width. */
  style?: (cell: string) => string;
}

export interface TableOptions {
  /** The columns of the terminal; without it, nothing is cut. */
  width?: number | undefined;
  /** Colours the titles. */
  titleStyle?: (title: string) => string;
}

const GAP = '  ';
/** A column is not cut to less than so many columns of the terminal: less would say nothing. */
const COLUMN_WIDTH_MIN = 8;

/**
 * Aligned rows under their titles, by the width that characters take on a terminal. Cells may hold any
 * text: they are made safe here.
 * @returns lines that each end with a line break; the empty string where there are no columns
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly string[][],
  options: TableOptions = {},
): string {
  if (columns.length === 0) return '';
  const cells = rows.map((row) => columns.map((_, place) => safeLine(row[place] ?? '')));
  const titles = columns.map(({ title }) => title);
  const widths = columnWidths(columns, [titles, ...cells], options.width);

  const lineOf = (row: string[], styleOf: (column: Column) => ((cell: string) => string) | undefined) =>
    columns
      .map((column, place) => {
        const width = widths[place] ?? 0;
        const cell = truncate(row[place] ?? '', width);
        const style = styleOf(column) ?? ((text: string) => text);
        const space = ' '.repeat(Math.max(0, width - stringWidth(cell)));
        if (column.align === 'right') return space + style(cell);
        return style(cell) + (place === columns.length - 1 ? '' : space);
      })
      .join(GAP)
      .trimEnd();

  const lines = [
    lineOf(titles, () => options.titleStyle),
    ...cells.map((row) => lineOf(row, (column) => column.style)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Cuts text to a width of the terminal, with `…` where something is missing. Never cuts through an emoji. */
export function truncate(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let keptWidth = 0;
  for (const { segment } of graphemes.segment(text)) {
    const segmentWidth = stringWidth(segment);
    if (keptWidth + segmentWidth > width - 1) break;
    kept += segment;
    keptWidth += segmentWidth;
  }
  return `${kept}…`;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function columnWidths(columns: readonly Column[], rows: string[][], width: number | undefined): number[] {
  const widths = columns.map((_, place) => Math.max(...rows.map((row) => stringWidth(row[place] ?? ''))));
  if (width === undefined) return widths;
  const gaps = GAP.length * (columns.length - 1);
  let excess = widths.reduce((total, columnWidth) => total + columnWidth, gaps) - width;
  while (excess > 0) {
    const [widest, next] = shrinkable(columns, widths);
    if (widest === undefined) break;
    // Down to the next widest, so that equally wide columns are cut alike.
    const step = Math.min(excess, Math.max(1, widest.width - Math.max(next?.width ?? 0, COLUMN_WIDTH_MIN)));
    widths[widest.place] = widest.width - step;
    excess -= step;
  }
  return widths;
}

/** The columns that may still be cut, widest first. */
function shrinkable(columns: readonly Column[], widths: number[]): { place: number; width: number }[] {
  return widths
    .map((width, place) => ({ place, width }))
    .filter(({ place, width }) => columns[place]?.shrinks === true && width > COLUMN_WIDTH_MIN)
    .sort((left, right) => right.width - left.width);
}
