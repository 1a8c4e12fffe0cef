/*
 * Items as they go from one machine to another. What is sent is what was read from the source and not the
 * event: the daemon makes the event itself, by the same rules as if it had read the files, so a caller cannot
 * bring in anything that an import would not. The id, made of the content on both sides, proves that nothing
 * was changed on the way.
 */
import { JsonText, type WireMigrationItem } from '@turnlog/events';
import {
  clearedItem,
  conversationItem,
  type MigrationItem,
  sessionItem,
  transcriptItem,
} from '@turnlog/projections';
import { DaemonError } from '../errors.ts';

export function wireItemOf({ kind, key, event }: MigrationItem): WireMigrationItem {
  const { id, data } = event;
  switch (kind) {
    case 'cleared':
      return { kind, id, key, ...('torn' in data && data.torn !== undefined && { torn: data.torn }) };
    case 'conversation': {
      const { messages, setAside } = event.data;
      return { kind, id, key, messages, ...(setAside !== undefined && { setAside }) };
    }
    case 'session': {
      const { sessionId, usage } = event.data;
      return {
        kind,
        id,
        key,
        ...(sessionId !== undefined && { sessionId }),
        ...(usage !== undefined && { usage }),
      };
    }
    case 'transcript':
      return { kind, id, key, rows: event.data.rows.map(({ row }) => row) };
  }
}

/** @throws DaemonError `invalid_argument` where the content is not what the id was made of */
export function itemOfWire(wire: WireMigrationItem): MigrationItem {
  const item = madeOf(wire);
  if (item.event.id !== wire.id) {
    throw new DaemonError('invalid_argument', 'an item does not have the id that its content makes', {
      kind: wire.kind,
      key: wire.key,
    });
  }
  return item;
}

function madeOf(wire: WireMigrationItem): MigrationItem {
  switch (wire.kind) {
    case 'cleared':
      return clearedItem(wire.key, wire.torn);
    case 'conversation':
      return conversationItem({
        conversationKey: wire.key,
        messages: wire.messages.map(({ role, content }) => ({ role, content })),
        setAside: (wire.setAside ?? []).map(({ place, row }) => ({ place, row: JsonText.of(row) })),
      });
    case 'session':
      return sessionItem({
        sessionKey: wire.key,
        ...(wire.sessionId !== undefined && { sessionId: wire.sessionId }),
        ...(wire.usage !== undefined && { usage: wire.usage }),
      });
    case 'transcript':
      return transcriptItem({ scopeId: wire.key, rows: wire.rows.map((row) => JsonText.of(row)) });
  }
}
