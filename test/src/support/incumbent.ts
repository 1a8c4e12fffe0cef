import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Row {
  role: string;
  content: string;
}

/** The most messages that the incumbent keeps of one conversation. */
const MESSAGES_MAX = 400;

/**
 * Reads a user-data directory by the rules of CrewCode's own stores: a shard by the digest of its key in
 * either shape, else the monolith unless the key was cleared; `agent-sessions.json`; every transcript.
 * Written for these tests from what is known of its behaviour.
 */
export async function readAsIncumbent(directory: string, keys: readonly string[]) {
  const cleared = new Set(
    (await readJson<string[]>(join(directory, 'conversations/.agent-conversations-cleared.json'))) ?? [],
  );
  const monolith = await readJson<{ conversations: Record<string, Row[]> }>(
    join(directory, 'agent-conversations.json'),
  );
  const conversations: Record<string, Row[]> = {};
  for (const key of keys) {
    const digest = createHash('sha256').update(key).digest('hex').slice(0, 24);
    const shard = await readJson<{
      conversations?: Record<string, Row[]>;
      sessionId?: string;
      messages?: Row[];
    }>(join(directory, `conversations/agent-conversations.${digest}.json`));
    const rows = shard?.conversations?.[key] ?? (shard?.sessionId === key ? shard.messages : undefined);
    const legacy = cleared.has(key) ? undefined : monolith?.conversations[key];
    conversations[key] = (cleared.has(key) ? [] : (rows ?? legacy ?? []))
      .filter(({ role, content }) => (role === 'user' || role === 'assistant') && typeof content === 'string')
      .map(({ role, content }) => ({ role, content }))
      .slice(-MESSAGES_MAX);
  }
  const transcripts: Record<string, unknown[]> = {};
  for (const name of await readdir(join(directory, 'transcripts'))) {
    const file = await readJson<{ scopeId: string; messages: unknown[] }>(
      join(directory, 'transcripts', name),
    );
    if (file !== undefined) transcripts[file.scopeId] = file.messages;
  }
  return { conversations, sessions: await readJson(join(directory, 'agent-sessions.json')), transcripts };
}

/** What the incumbent cannot read is to it as if it were not there. */
async function readJson<Value>(path: string): Promise<Value | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Value;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
