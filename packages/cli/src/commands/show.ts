import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';

/** Shows a conversation, as it is or as it was at a seq or a time. */
export async function showCommand(
  context: Context,
  conversationKey: string,
  options: { at?: string },
): Promise<number> {
  const { colours } = context;
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
