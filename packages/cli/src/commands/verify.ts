import { callWithProgress } from '../call-with-progress.ts';
import type { CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { formatCount } from '../terminal/human.ts';
import { safeLine } from '../terminal/safe-text.ts';

export const verifyCommand: CommandSpec<object> = {
  name: 'verify',
  group: 'care',
  description: 'look at every record of the log, whether it is whole',
  run: verify,
};

async function verify(context: Context): Promise<number> {
  const { colours } = context;
  return await withTarget(context, async (target) => {
    const found = await callWithProgress(context, target, 'log.verify', {});
    const { events, problems, problemsTotal } = found;
    print(context, found, () => {
      if (problemsTotal === 0) return colours.green(`all ${formatCount(events, 'event')} are whole\n`);
      const lines = problems.map(({ message }) => `  ${safeLine(message)}\n`);
      const more = problemsTotal - problems.length;
      return [
        colours.red(`${formatCount(problemsTotal, 'problem')}, ${formatCount(events, 'event')} are whole\n`),
        ...lines,
        ...(more > 0 ? [`  and ${formatCount(more)} more\n`] : []),
      ].join('');
    });
    return problemsTotal === 0 ? EXIT.ok : EXIT.different;
  });
}
