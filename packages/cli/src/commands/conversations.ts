import type { OperationResult } from '@turnlog/events';
import type { CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { formatAge, formatCount } from '../terminal/human.ts';
import { formatTable } from '../terminal/table.ts';

interface ConversationsOptions {
  prefix?: string;
  provider?: string;
  text?: string;
}

type Listed = OperationResult<'conversation.list'>['conversations'][number];

export const conversationsCommand: CommandSpec<ConversationsOptions> = {
  name: 'conversations',
  group: 'read',
  description: 'list the conversations',
  configure: (command) =>
    command
      .option('--prefix <text>', 'only keys that begin with this')
      .option('--provider <name>', 'only those that this provider spoke in last')
      .option('--text <text>', 'only those that hold this text'),
  run: conversations,
};

async function conversations(
  context: Context,
  { prefix, provider, text }: ConversationsOptions,
): Promise<number> {
  const filter = {
    ...(prefix !== undefined && { prefix }),
    ...(provider !== undefined && { provider }),
    ...(text !== undefined && { text }),
  };
  await withTarget(context, async ({ call }) => {
    const listed: Listed[] = [];
    let after: string | undefined;
    do {
      const page = await call('conversation.list', {
        ...filter,
        ...(after !== undefined && { after }),
        limit: 1_000,
      });
      listed.push(...page.conversations);
      after = page.next;
    } while (after !== undefined);
    print(context, { conversations: listed }, () => inWords(context, listed));
  });
  return EXIT.ok;
}

function inWords({ width }: Context, conversations: readonly Listed[]): string {
  if (conversations.length === 0) return 'no conversations\n';
  const nowMs = Date.now();
  return formatTable(
    [
      { title: 'CONVERSATION', shrinks: true },
      { title: 'PROVIDER' },
      { title: 'MESSAGES', align: 'right' },
      { title: 'CHANGED' },
    ],
    conversations.map(({ conversationKey, provider = '', messages, updatedAt }) => [
      conversationKey,
      provider,
      formatCount(messages),
      formatAge(updatedAt, nowMs),
    ]),
    width === undefined ? {} : { width },
  );
}
