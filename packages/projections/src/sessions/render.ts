/*
 * `agent-sessions.json`, byte for byte as CrewCode writes it: JSON indented by two spaces, without a newline
 * at the end. The objects are put together as text, so that keys keep their order and one such as
 * `__proto__` comes out as any other.
 */
import type { TableReader } from '../engine/projection.ts';
import { ORDER, sessionOf, shownOf } from './tables.ts';

export function fileOf(): string {
  return 'agent-sessions.json';
}

export async function render(tables: TableReader): Promise<string> {
  const sessions: Entry[] = [];
  const usages: Entry[] = [];
  for await (const [, sessionKey] of tables.range<string>(ORDER)) {
    const { sessionId, usage } = shownOf(await sessionOf(tables, sessionKey));
    if (sessionId !== undefined) sessions.push([sessionKey, JSON.stringify(sessionId)]);
    if (usage === undefined) continue;
    const { contextTokens, contextWindow, model } = usage;
    usages.push([sessionKey, JSON.stringify({ contextTokens, contextWindow, model }, null, 2)]);
  }
  return objectText([
    ['sessions', objectText(sessions)],
    ['usage', objectText(usages)],
  ]);
}

type Entry = [key: string, json: string];

function objectText(entries: readonly Entry[]): string {
  if (entries.length === 0) return '{}';
  // A line break within a string is escaped in JSON, so that every one there is can be indented.
  const lines = entries.map(([key, json]) => `  ${JSON.stringify(key)}: ${json.replaceAll('\n', '\n  ')}`);
  return `{\n${lines.join(',\n')}\n}`;
}
