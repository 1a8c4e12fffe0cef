import { argumentOf, type CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';

interface ShowOptions {
  at?: string;
}

export const showCommand: CommandSpec<ShowOptions> = {
  name: 'show',
  group: 'read',
  description: 'show a conversation, as it is or as it was',
  configure: (command) =>
    command
      .argument('<key>', 'its key, such as thread:<session>')
      .option('--at <seq|time>', 'as it was at this seq of the log or at this time (ISO 8601)'),
  run: show,
};

async function show(context: Context, options: ShowOptions, arguments_: readonly string[]): Promise<number> {
  const { colours } = context;
  const conversationKey = argumentOf(arguments_, 0);
  await withTarget(context, async ({ call }) => {
    const at = options.at === undefined ? undefined : momentOf(options.at);
    const conversation = await call('conversation.load', {
      conversationKey,
      ...(at !== undefined && { at }),
    });
    print(context, { conversationKey, ...conversation }, () =>
      conversation.messages.length === 0
        ? `${safeLine(conversationKey)} is empty\n`
        : conversation.messages
            .map(({ role, content }) => {
              const paint = role === 'user' ? colours.cyan : colours.green;
              return `${paint(colours.bold(role))}\n${safeText(content)}\n`;
            })
            .join('\n'),
    );
  });
  return EXIT.ok;
}

/** A whole number is a seq, anything else a time. */
function momentOf(text: string): number | string {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}
