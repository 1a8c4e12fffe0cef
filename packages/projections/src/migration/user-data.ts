import type { JsonText, Message, UsageSnapshot } from '@turnlog/events';

/** What reading a user-data directory needs of a file system; `node:fs/promises` is one. It never writes. */
export interface UserDataFileSystem {
  readdir(path: string): Promise<string[]>;
  stat(path: string): Promise<{ size: number; isFile(): boolean }>;
  readFile(path: string): Promise<Uint8Array>;
}

/** The largest file that is read whole. */
export const USER_DATA_FILE_BYTES_MAX = 256 * 1024 * 1024;

/** A file, or a part of one, that could not be read or understood. */
export interface UserDataProblem {
  /** Relative to the directory, with `/` between its parts. */
  file: string;
  reason: string;
  /** The conversation, session or scope that it is about, where that is known. */
  key?: string;
}

/** A row of a conversation that is no message. */
export interface RowSetAside {
  /** Its place among all rows of the conversation. */
  place: number;
  row: JsonText;
}

export interface StoredConversation {
  conversationKey: string;
  messages: Message[];
  setAside: RowSetAside[];
}

export interface StoredSession {
  sessionKey: string;
  sessionId?: string;
  usage?: UsageSnapshot;
}

export interface StoredTranscript {
  scopeId: string;
  rows: JsonText[];
}

/** What is known of the conversations that were cleared. */
export interface ClearedList {
  /** The entries that are there whole. */
  keys: string[];
  /** The beginning of the entry at which the list was cut off; never empty. */
  cut?: string;
  /** There is, or may be, an entry of which nothing is left: any key may be the one. */
  unknownEntry: boolean;
}

/** What a CrewCode user-data directory holds, as far as it can be read. */
export interface UserData {
  cleared: ClearedList;
  /** From `conversations/agent-conversations.<digest>.json`, one conversation a file. */
  shards: StoredConversation[];
  /** From the legacy `agent-conversations.json`. */
  monolith: StoredConversation[];
  sessions: StoredSession[];
  transcripts: StoredTranscript[];
  problems: UserDataProblem[];
  /** Files and directories of many records of which nothing could be read: how much is missing is not known. */
  unread: string[];
}
