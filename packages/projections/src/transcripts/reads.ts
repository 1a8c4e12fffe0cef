import type { JsonText } from '@turnlog/events';
import type { TableReader } from '../engine/projection.ts';
import { contentsInOrder, DOCUMENTS, documentOf, type TranscriptDocument } from './tables.ts';

/** How many transcripts, and about how much text of theirs, one page of a list holds. */
export const LIST_LIMIT_MAX = 1000;
export const LIST_CHARACTERS_MAX = 16 * 1024 * 1024;

/**
 * A transcript as it is now; undefined where there is none. What a client gives as `base` with its next save
 * is the seq that the tables had reached before this was read: ask for the checkpoint first.
 */
export async function loadTranscript(
  tables: TableReader,
  scopeId: string,
): Promise<{ messages: JsonText[] } | undefined> {
  const document = await documentOf(tables, scopeId);
  if (document === undefined || !document.exists) return undefined;
  return { messages: await contentsInOrder(tables, document.document) };
}

export interface TranscriptPage {
  transcripts: { scopeId: string; messages: JsonText[] }[];
  /** The `after` of the next page; absent on the last one. */
  next?: string;
}

/**
 * Transcripts in the order of their scopes' bytes. A page ends early where it holds much text, but holds at
 * least one transcript.
 * @param options `after`: only scopes after this one; `limit`: at most {@link LIST_LIMIT_MAX}
 */
export async function listTranscripts(
  tables: TableReader,
  options: { after?: string; limit?: number } = {},
): Promise<TranscriptPage> {
  const { after, limit = LIST_LIMIT_MAX } = options;
  const page: TranscriptPage = { transcripts: [] };
  let characters = 0;
  const range = tables.range<TranscriptDocument>(DOCUMENTS, after === undefined ? {} : { after });
  for await (const [scopeId, { document, exists }] of range) {
    if (!exists) continue;
    const last = page.transcripts.at(-1);
    const isFull =
      page.transcripts.length >= Math.min(limit, LIST_LIMIT_MAX) || characters >= LIST_CHARACTERS_MAX;
    if (isFull && last !== undefined) return { ...page, next: last.scopeId };
    const messages = await contentsInOrder(tables, document);
    characters += messages.reduce((sum, { text }) => sum + text.length, 0);
    page.transcripts.push({ scopeId, messages });
  }
  return page;
}

/** When each transcript last changed, in milliseconds since 1970, by scope. */
export async function transcriptTimes(tables: TableReader): Promise<Record<string, number>> {
  const times: [scopeId: string, updatedAt: number][] = [];
  for await (const [scopeId, { exists, updatedAt }] of tables.range<TranscriptDocument>(DOCUMENTS)) {
    if (exists) times.push([scopeId, updatedAt]);
  }
  // By definition and not by assignment: a scope may be called `__proto__`.
  return Object.fromEntries(times);
}
