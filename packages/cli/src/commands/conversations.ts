import type { OperationResult } from '@turnlog/events';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { formatAge, formatCount } from '../terminal/human.ts';
import { formatTable } from '../terminal/table.ts';

export interface ConversationsOptions {
  prefix?: string;
  provider?: string;
  text?: string;
}

type Listed = OperationResult<'conversation.list'>['conversations'][number];

export async function conversationsCommand(context: Context, filter: ConversationsOptions): Promise<number> {
  await withTarget(context, async ({ call }) => {
    const conversations: Listed[] = [];
    let after: string | undefined;
    do {
      const page = await call('conversation.list', {
        ...filter,
        ...(after !== undefined && { after }),
        limit: 1_000,
      });
      conversations.push(...page.conversations);
      after = page.next;
    } while (after !== undefined);
    print(context, { conversations }, () => inWords(context, conversations));
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
