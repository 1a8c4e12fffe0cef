import { callWithProgress } from '../call-with-progress.ts';
import type { CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { formatCount } from '../terminal/human.ts';
import { formatTable } from '../terminal/table.ts';

interface RebuildOptions {
  only?: string[];
  check?: boolean;
}

export const rebuildCommand: CommandSpec<RebuildOptions> = {
  name: 'rebuild',
  group: 'care',
  description: 'build the projections anew from the log',
  configure: (command) =>
    command
      .option('--only <name...>', 'only these: conversations, sessions, transcripts, bridges')
      .option('--check', 'change nothing, say whether they equal what would be built'),
  run: rebuild,
};

/** Builds the projections anew from the log, or checks that they equal what would be built. */
async function rebuild(context: Context, { only, check = false }: RebuildOptions): Promise<number> {
  const { width } = context;
  return await withTarget(context, async (target) => {
    const { projections } = await callWithProgress(context, target, 'projections.rebuild', {
      ...(only !== undefined && { only }),
      ...(check && { check }),
    });
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
