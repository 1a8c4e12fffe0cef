import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@turnlog/client';
import type { Context } from './context.ts';
import { CliError } from './errors.ts';

/**
 * The client of a daemon at an address. The token of this machine's data directory goes to this machine
 * alone, unless the caller says otherwise with a file.
 * @throws CliError `invalid_argument` where there is no token to send
 */
export async function openRemote(
  { dataDirectory }: Context,
  address: string,
  tokenFile: string | undefined,
): Promise<Client> {
  if (tokenFile === undefined && !isLoopback(address)) {
    throw new CliError('invalid_argument', `${address} is another machine: give its token with --token-file`);
  }
  const file = tokenFile ?? join(dataDirectory, 'token');
  const token = await readToken(file);
  return createClient({ address, token });
}

async function readToken(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(
      'invalid_argument',
      `the token cannot be read from ${file} (${code}); name its file with --token-file`,
      undefined,
      { cause: error },
    );
  }
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CliError('invalid_argument', `${file} holds no token`);
  return token;
}

function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
