import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { formatCount } from '../terminal/human.ts';
import { formatTable } from '../terminal/table.ts';

/** Builds the projections anew from the log, or checks that they equal what would be built. */
export async function rebuildCommand(
  context: Context,
  { check = false }: { check?: boolean },
): Promise<number> {
  const { width } = context;
  return await withTarget(context, async ({ call }) => {
    const { projections } = await call('projections.rebuild', { ...(check && { check }) });
    print(context, { projections }, () =>
      formatTable(
        [
          { title: 'PROJECTION' },
          { title: 'ROWS', align: 'right' },
          { title: check ? 'EQUAL' : 'DONE' },
          { title: 'DIFFERENCES', shrinks: true },
        ],
        projections.map(({ name, rows, equal, differences = [] }) => [
          name,
          formatCount(rows),
          check ? (equal ? 'yes' : 'no') : 'yes',
          differences.join('; '),
        ]),
        width === undefined ? {} : { width },
      ),
    );
    return projections.some(({ equal }) => equal === false) ? EXIT.different : EXIT.ok;
  });
}
