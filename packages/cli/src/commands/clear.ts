import { argumentOf, type CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { formatCount } from '../terminal/human.ts';
import { safeLine } from '../terminal/safe-text.ts';

export const clearCommand: CommandSpec<object> = {
  name: 'clear',
  group: 'change',
  description: 'clear a conversation, so that it begins anew',
  configure: (command) => command.argument('<key>', 'its key, such as thread:<session>'),
  run: clear,
};

/** A key of which nothing is known is refused: it is more likely mistyped than meant. */
async function clear(context: Context, _options: object, arguments_: readonly string[]): Promise<number> {
  const conversationKey = argumentOf(arguments_, 0);
  await withTarget(context, async ({ call }) => {
    const before = await call('conversation.load', { conversationKey });
    const { seq } = await call('conversation.clear', { conversationKey });
    const messages = before.messages.length;
    print(context, { conversationKey, messages, seq }, () =>
      messages === 0
        ? `${safeLine(conversationKey)} was empty already\n`
        : `${safeLine(conversationKey)} is cleared; its ${formatCount(messages, 'message')} can still be seen ` +
          `with --at ${before.seq}\n`,
    );
  });
  return EXIT.ok;
}
