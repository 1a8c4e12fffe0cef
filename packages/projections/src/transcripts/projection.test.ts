import { readdir, readFile } from 'node:fs/promises';
import { JsonText } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryTables } from '../engine/memory-tables.ts';
import { TranscriptScene } from '../testing/transcript-scene.ts';
import { listTranscripts, readRows, transcripts, transcriptTimes } from './index.ts';
import { HISTORY_MAX, keyIn, ROWS, type RowRecord } from './tables.ts';

const FIXTURES = new URL(
  '../../../../test/fixtures/crewcode-userdata/userdata/transcripts/',
  import.meta.url,
);

const render = (scene: TranscriptScene) => transcripts.render?.(scene.tables, scene.scopeId);

test('render: what the real application left comes out byte for byte, under the same name', async () => {
  let compared = 0;
  for (const name of await readdir(FIXTURES)) {
    const text = await readFile(new URL(name, FIXTURES), 'utf8');
    let content: { scopeId: string; messages: unknown[] };
    try {
      content = JSON.parse(text);
    } catch {
      continue; // One file is torn, as a crash leaves it.
    }
    const scene = new TranscriptScene(content.scopeId);
    await scene.save(content.messages);
    assert.is(await render(scene), text);
    assert.is(transcripts.fileOf?.(content.scopeId), `transcripts/${name}`);
    assert.is(await scene.save(content.messages), undefined);
    compared += 1;
  }
  assert.is(compared, 19);
});

test('render: a removed transcript has no file, and its mark says so', async () => {
  const scene = new TranscriptScene();
  await scene.save(['a']);
  assert.equal(scene.tables.takeDirty(), ['thread:one']);
  await scene.remove();
  assert.equal(scene.tables.takeDirty(), ['thread:one']);
  assert.is(await render(scene), undefined);
  await scene.save([], scene.seq);
  assert.is(await render(scene), '{"scopeId":"thread:one","messages":[]}');
});

test('fold: rows that come between the same two, more often than there is room', async () => {
  const scene = new TranscriptScene();
  let rows = ['first', 'last'];
  await scene.save(rows);
  for (let round = 0; round < 60; round += 1) {
    rows = ['first', `row ${round}`, ...rows.slice(1)];
    assert.is((await scene.save(rows, scene.seq))?.rows.length, 1);
    assert.equal(await scene.load(), rows);
  }
  const many = Array.from({ length: 5000 }, (_, index) => `of many ${index}`);
  rows = ['first', ...many, ...rows.slice(1)];
  await scene.save(rows, scene.seq);
  assert.equal(await scene.load(), rows);
  assert.equal((await scene.refold()).dump(), scene.tables.dump());
});

test('fold: of what a row was before, the last contents are remembered', async () => {
  const scene = new TranscriptScene();
  for (let round = 0; round < 2 * HISTORY_MAX; round += 1) await scene.save([{ id: 'a', round }]);
  const record = await scene.tables.get<RowRecord>(ROWS, keyIn(1, 1));
  assert.is(record?.history.length, HISTORY_MAX);
  assert.is(record?.history.at(-1), readRows([{ id: 'a', round: 2 * HISTORY_MAX - 2 }])[0]?.content);
});

test('fold: an event that names rows which are gone is taken all the same', async () => {
  const scene = new TranscriptScene();
  await scene.save(['a', 'b']);
  const { scopeId } = scene;
  const rows = [
    { rowId: 3, after: 99, row: JsonText.of('after one that is gone') },
    { rowId: 4, row: JsonText.of('changed, but never there') },
  ];
  await scene.append({ type: 'transcript_saved', data: { scopeId, rows, removed: [1, 1, 77] } });
  assert.equal(await scene.load(), ['b', 'after one that is gone', 'changed, but never there']);
  assert.equal(await scene.save(['b', 'new'], 1).then((data) => data?.rows[0]?.rowId), 5);
});

test('fold: nothing of a removed transcript is left but what keeps it away', async () => {
  const scene = new TranscriptScene();
  await scene.save(['a', { id: 'b' }]);
  await scene.remove();
  assert.equal(Object.keys(scene.tables.dump()), ['transcript_tombstones', 'transcripts']);
});

test('reads: transcripts in pages, and their times', async () => {
  const tables = new MemoryTables();
  const scopes = ['__proto__', 'a', 'b/../c', '\u{1f680}', '\uffee'];
  let seq = 0;
  for (const scopeId of [...scopes, 'gone']) {
    seq += 1;
    const rows = [{ rowId: 1, after: 0, row: JsonText.of(scopeId) }];
    const data = { scopeId, rows, removed: [] };
    const event = { id: `#${seq}`, stream: 's', revision: 1, v: 1, meta: {}, seq, at: 1000 + seq } as const;
    await transcripts.evolve(tables, { ...event, type: 'transcript_saved', data });
  }
  const removal = { id: '#7', stream: 's', revision: 2, v: 1, meta: {}, seq: 7, at: 2000 } as const;
  await transcripts.evolve(tables, { ...removal, type: 'transcript_removed', data: { scopeId: 'gone' } });

  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = await listTranscripts(tables, { limit: 2, ...(after !== undefined && { after }) });
    assert.ok(page.transcripts.length <= 2);
    for (const { scopeId, messages } of page.transcripts) {
      assert.equal(
        messages.map((message) => message.parse()),
        [scopeId],
      );
      seen.push(scopeId);
    }
    after = page.next;
  } while (after !== undefined);
  assert.equal(seen, ['__proto__', 'a', 'b/../c', '\uffee', '\u{1f680}']);

  const times = Object.entries(await transcriptTimes(tables));
  assert.equal(times, [
    ['__proto__', 1001],
    ['a', 1002],
    ['b/../c', 1003],
    ['\uffee', 1005],
    ['\u{1f680}', 1004],
  ]);
});

test.run();
