import { argumentOf, type CommandFamily, type CommandSpec } from '../command.ts';
import { type Context, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTarget } from '../target.ts';
import { formatTime } from '../terminal/human.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { formatTable } from '../terminal/table.ts';

interface CreateOptions {
  web?: boolean;
  name?: string;
}

const createCommand: CommandSpec<CreateOptions> = {
  name: 'create',
  description: 'make a token and print it; it is shown this once',
  configure: (command) =>
    command
      .option(
        '--web',
        'one for a browser: it opens conversations and transcripts under web: and nothing else',
      )
      .option('--name <text>', 'by which you will know it again'),
  run: create,
};

const listCommand: CommandSpec<object> = {
  name: 'list',
  description: 'list the tokens that were made; what opens is not kept',
  run: list,
};

const revokeCommand: CommandSpec<object> = {
  name: 'revoke',
  description: 'let a token open nothing any more, and end what was opened with it',
  configure: (command) => command.argument('<id>', 'its id, as "turnlog token list" shows it'),
  run: revoke,
};

export const tokenCommands: CommandFamily = {
  name: 'token',
  group: 'care',
  description: 'who may call: make, list and revoke tokens',
  below: [createCommand, listCommand, revokeCommand],
};

/** The token alone on standard output, so that it can be piped; what people are told goes beside it. */
async function create(context: Context, { web = false, name }: CreateOptions): Promise<number> {
  await withTarget(
    context,
    async ({ call }) => {
      const made = await call('token.create', {
        scope: web ? 'web' : 'local',
        ...(name !== undefined && { name }),
      });
      print(context, made, () => `${made.token}\n`);
      if (!context.json) {
        context.stderr.write(`token ${made.id} is made (${made.scope}); it is shown this once\n`);
      }
    },
    { create: true },
  );
  return EXIT.ok;
}

async function list(context: Context): Promise<number> {
  await withTarget(context, async ({ call }) => {
    const { tokens } = await call('token.list', {});
    print(context, { tokens }, () =>
      tokens.length === 0
        ? 'there are none but the one in the file "token" of the data directory\n'
        : formatTable(
            [{ title: 'ID' }, { title: 'OPENS' }, { title: 'MADE' }, { title: 'NAME', shrinks: true }],
            tokens.map(({ id, scope, createdAt, name = '' }) => [id, scope, formatTime(createdAt), name]),
            { width: context.width },
          ),
    );
  });
  return EXIT.ok;
}

async function revoke(context: Context, _options: object, arguments_: readonly string[]): Promise<number> {
  const id = argumentOf(arguments_, 0);
  await withTarget(context, async ({ call }) => {
    const revoked = await call('token.revoke', { id });
    print(context, revoked, () => `token ${safeLine(revoked.id)} is revoked\n`);
  });
  return EXIT.ok;
}
