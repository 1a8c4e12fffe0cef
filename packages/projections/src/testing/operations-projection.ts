import type { CommittedEvent } from '@turnlog/events';
import type { Projection, TableReader, TableWriter } from '../engine/projection.ts';

/** What an event of a test tells a fold to do. `file` names the shown table. */
export type TableOperation =
  | { do: 'put'; table: string; key: string; value: unknown }
  | { do: 'delete'; table: string; key: string }
  | { do: 'deleteRange'; table: string; prefix: string }
  | { do: 'count'; table: string; key: string }
  | { do: 'list'; table: string; prefix: string; after?: string; reverse: boolean; limit?: number }
  | { do: 'fail' };

/**
 * A fold that does what each event says, in every way in which a fold may use its tables. Every table is
 * shown in a file of its own, `shown/<table>.json`, which is not there while the table is empty.
 */
export function operationsProjection(options: { name?: string; version?: number } = {}): Projection {
  return {
    name: options.name ?? 'operations',
    version: options.version ?? 1,
    evolve: (tables, event) => carryOut(tables, event),
    fileOf: (ref) => `shown/${ref}.json`,
    render: (tables, ref) => renderTable(tables, ref),
  };
}

export async function carryOut(tables: TableWriter, event: CommittedEvent): Promise<void> {
  const operation = event.data as unknown as TableOperation;
  if (operation.do === 'fail') throw new Error('told to fail');
  const { table } = operation;
  tables.markDirty(writtenBy(operation));
  if (operation.do === 'put') return tables.put(table, operation.key, operation.value);
  if (operation.do === 'delete') return tables.delete(table, operation.key);
  if (operation.do === 'deleteRange') return await tables.deleteRange(table, operation.prefix);
  if (operation.do === 'count') {
    const before = (await tables.get<number>('counts', operation.key)) ?? 0;
    return tables.put('counts', operation.key, before + 1);
  }
  const { prefix, after, reverse, limit } = operation;
  const rows: unknown[] = [];
  const range = {
    prefix,
    reverse,
    ...(after !== undefined && { after }),
    ...(limit !== undefined && { limit }),
  };
  for await (const row of tables.range(table, range)) rows.push(row);
  tables.put('lists', String(event.seq).padStart(8, '0'), rows);
}

function writtenBy(operation: Exclude<TableOperation, { do: 'fail' }>): string {
  if (operation.do === 'count') return 'counts';
  return operation.do === 'list' ? 'lists' : operation.table;
}

export async function renderTable(tables: TableReader, table: string): Promise<string | undefined> {
  const rows: Record<string, unknown> = {};
  for await (const [key, value] of tables.range(table)) rows[key] = value;
  return Object.keys(rows).length === 0 ? undefined : JSON.stringify(rows);
}

/** Everything that a table holds. */
export async function rowsOf(tables: TableReader, table: string): Promise<[string, unknown][]> {
  const rows: [string, unknown][] = [];
  for await (const row of tables.range<unknown>(table)) rows.push(row);
  return rows;
}
