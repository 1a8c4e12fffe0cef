import { argumentOf, type CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { safeLine } from '../terminal/safe-text.ts';

interface ResetOptions {
  conversation?: string;
}

export const resetCommand: CommandSpec<ResetOptions> = {
  name: 'reset',
  group: 'change',
  description: "forget a session: the provider's own id of it and its last usage",
  configure: (command) =>
    command
      .argument('<sessionKey>', 'its key, such as <session>:<provider>')
      .option('--conversation <key>', 'clear this conversation with it'),
  run: reset,
};

async function reset(
  context: Context,
  { conversation }: ResetOptions,
  arguments_: readonly string[],
): Promise<number> {
  const sessionKey = argumentOf(arguments_, 0);
  await withTarget(context, async ({ call }) => {
    const before = await call('session.get', { sessionKey });
    const { seq } = await call('bridge.resetSession', {
      sessionKey,
      ...(conversation !== undefined && { conversationKey: conversation }),
    });
    print(context, { sessionKey, before, seq }, () => {
      const { sessionId, usage } = before;
      const isKnown = sessionId !== undefined || usage !== undefined;
      const id = sessionId === undefined ? '' : `; its id was ${safeLine(sessionId)}`;
      const cleared = conversation === undefined ? '' : `\n${safeLine(conversation)} is cleared`;
      return `${safeLine(sessionKey)} is ${isKnown ? `reset${id}` : 'reset; nothing was known of it'}${cleared}\n`;
    });
  });
  return EXIT.ok;
}
