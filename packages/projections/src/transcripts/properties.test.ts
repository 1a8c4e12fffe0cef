import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { numberKey } from '../engine/projection.ts';
import { TranscriptScene } from '../testing/transcript-scene.ts';
import { readRows } from './identity.ts';
import {
  CONTENTS,
  DOCUMENTS,
  ORDER,
  ROWS,
  type RowContent,
  type RowRecord,
  TOMBSTONES,
  type TranscriptDocument,
} from './tables.ts';

const RUNS = { numRuns: 300 };

/** Rows of few kinds and texts, so that many are alike or nearly so. */
const row = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  {
    weight: 8,
    arbitrary: fc.record(
      {
        kind: fc.constantFrom('user', 'agent', 'toolcall'),
        text: fc.constantFrom('yes', 'yes and', 'no', 'Hel', 'Hello'),
        id: fc.constantFrom('1', '2', '3', ''),
        turnId: fc.constantFrom('t1', 't2'),
        toolCallId: fc.constantFrom('c1', 'c2'),
        segmentId: fc.constantFrom('s1', 's2'),
        status: fc.constantFrom('pending', 'completed'),
        time: fc.constantFrom('12:00', '12:01'),
      },
      { requiredKeys: ['kind'] },
    ),
  },
);
const array = fc.array(row, { maxLength: 12 });
/** fast-check makes objects without prototype, and -0, which JSON does not hold. */
const plain = (rows: readonly unknown[]): unknown[] => JSON.parse(JSON.stringify(rows));

test('property: what is saved into an empty scope is what is loaded, and saved again changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(array, fc.boolean(), async (rows, withBase) => {
      const scene = new TranscriptScene();
      await scene.save(rows);
      assert.equal(await scene.load(), plain(rows));
      assert.is(await scene.save(rows, withBase ? scene.seq : undefined), undefined);
    }),
    RUNS,
  );
});

/** That every table says the same of how many rows there are and where they stand. */
async function assertTablesAgree(scene: TranscriptScene): Promise<void> {
  const dump = scene.tables.dump() as Record<string, [string, never][]>;
  const records: [string, RowRecord][] = dump[ROWS] ?? [];
  const documents: [string, TranscriptDocument][] = dump[DOCUMENTS] ?? [];
  const contents: [string, RowContent][] = dump[CONTENTS] ?? [];
  const byPlace = records.map(([key, { position, rowId }]) => [key.slice(0, 8) + numberKey(position), rowId]);
  assert.equal(
    dump[ORDER] ?? [],
    byPlace.sort(([one], [other]) => ((one as string) < (other as string) ? -1 : 1)),
  );
  assert.equal(
    contents.map(([key, { position }]) => [key, position]),
    records.map(([key, { position }]) => [key, position]),
  );
  assert.is(documents[0]?.[1].rows ?? 0, records.length);
  assert.is(documents[0]?.[1].tombstones ?? 0, dump[TOMBSTONES]?.length ?? 0);
}

/** A row whose difference is in display time alone is not changed, so that is not compared. */
function withoutTime(rows: readonly unknown[] | undefined): unknown[] | undefined {
  return rows?.map((value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || 'id' in value) return value;
    const { time, ...rest } = value as Record<string, unknown>;
    return rest;
  });
}

test('property: a client alone, that loaded before each save, has exactly what it saved last', async () => {
  const steps = fc.array(
    fc.oneof({ weight: 6, arbitrary: array }, { weight: 1, arbitrary: fc.constant(undefined) }),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (arrays) => {
      const scene = new TranscriptScene();
      for (const rows of arrays) {
        if (rows === undefined) await scene.remove();
        else await scene.save(rows, scene.seq);
        const loaded = await scene.load();
        assert.equal(withoutTime(loaded), rows === undefined ? undefined : withoutTime(plain(rows)));
        await assertTablesAgree(scene);
      }
    }),
    RUNS,
  );
});

test('property: any saves and removals fold to the same tables again, and the same save twice is one', async () => {
  const step = fc.record({
    rows: fc.option(array.map(withoutNamesakes), { freq: 8 }),
    age: fc.option(fc.nat(4)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const scene = new TranscriptScene();
      for (const { rows, age } of steps) {
        const base = age === null ? undefined : Math.max(0, scene.seq - age);
        if (rows === null) {
          await scene.remove();
          continue;
        }
        await scene.save(rows, base);
        const before = sorted(await scene.load());
        const again = await scene.save(rows, base);
        assert.equal(sorted(await scene.load()), before);
        // Of rows that changed places beside others' rows, some may take a second time to find theirs.
        if (base === undefined || age === 0) assert.is(again, undefined);
      }
      assert.equal((await scene.refold()).dump(), scene.tables.dump());
    }),
    RUNS,
  );
});

/** Which of several rows under one id is which may be told otherwise once one of them has changed. */
function withoutNamesakes(rows: unknown[]): unknown[] {
  const seen = new Set<string>();
  return readRows(rows).flatMap((value) => {
    if (value.isDurable && seen.has(value.identity)) return [];
    seen.add(value.identity);
    return [value.value];
  });
}

const sorted = (rows: readonly unknown[] = []) => rows.map((value) => JSON.stringify(value)).sort();

/** A row of the model: what it is, whatever it says. */
interface Token {
  token: number;
  kind: string;
  text: string;
  id?: string;
}
interface Client {
  base: number;
  loaded: Token[];
  rows: Token[];
}
type Act =
  | { act: 'load' }
  | { act: 'save' }
  | { act: 'insert'; at: number; withId: boolean; kind: string }
  | { act: 'delete' | 'edit'; at: number };

const clientAct = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom({ act: 'load' as const }, { act: 'save' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('insert' as const),
      at: fc.nat(9),
      withId: fc.boolean(),
      kind: fc.constantFrom('user', 'agent'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constantFrom('delete' as const, 'edit' as const), at: fc.nat(9) }),
  },
);

test('property: of two clients that save from what they loaded neither loses nor doubles a row', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), clientAct), { maxLength: 40 }), async (acts) => {
      const scene = new TranscriptScene();
      /** The model: by token what is there, and the tokens that were ever taken away or edited. */
      const live = new Map<number, string>();
      const gone = new Set<number>();
      const editors = new Map<number, number>();
      const clients: Client[] = [0, 1].map(() => ({ base: 0, loaded: [], rows: [] }));
      let tokens = 0;

      const load = async (client: Client) => {
        const rows = ((await scene.load()) ?? []) as Token[];
        Object.assign(client, { base: scene.seq, loaded: rows, rows: [...rows] });
      };
      const act = async (who: number, client: Client, does: Act) => {
        if (does.act === 'load') return load(client);
        if (does.act === 'insert') {
          tokens += 1;
          const text = `text ${tokens}`;
          const added = { token: tokens, kind: does.kind, text, ...(does.withId && { id: `m${tokens}` }) };
          client.rows.splice(Math.min(does.at, client.rows.length), 0, added);
          return;
        }
        if (does.act === 'save') {
          const before = new Map(client.loaded.map((token) => [token.token, token.text]));
          const now = new Set(client.rows.map(({ token }) => token));
          for (const token of before.keys()) {
            if (now.has(token)) continue;
            live.delete(token);
            gone.add(token);
          }
          for (const { token, text } of client.rows) {
            if (!gone.has(token) && before.get(token) !== text) live.set(token, text);
          }
          await scene.save(client.rows, client.base);
          return load(client);
        }
        const place = does.at % Math.max(1, client.rows.length);
        const target = client.rows[place];
        if (target === undefined) return;
        // What both clients change at once has no one right outcome: each row has one that edits or deletes.
        if ((editors.get(target.token) ?? who) !== who) return;
        editors.set(target.token, who);
        if (does.act === 'delete') client.rows.splice(place, 1);
        else client.rows[place] = { ...target, text: `${scene.seq}: other than ${target.text}` };
      };

      for (const [who, does] of acts) {
        await act(who, clients[who] as Client, does);
        const rows = ((await scene.load()) ?? []) as Token[];
        const found = rows.map(({ token, text }) => [token, text] as const);
        assert.equal(
          found.sort(([a], [b]) => a - b),
          [...live].sort(([a], [b]) => a - b),
        );
      }
      assert.equal((await scene.refold()).dump(), scene.tables.dump());
    }),
    RUNS,
  );
});

test.run();
