import { readFile } from 'node:fs/promises';
import { JsonText } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TranscriptScene } from '../testing/transcript-scene.ts';

const user = (text: string, time?: string) => ({ kind: 'user', text, ...(time && { time }) });
const agent = (text: string, turnId = 't1') => ({ kind: 'agent', text, turnId });
const call = (status: string, more: object = {}) => ({
  kind: 'toolcall',
  toolCallId: 'c1',
  name: 'bash',
  status,
  ...more,
});
const byId = (id: string, text: string) => ({ id, kind: 'agent', text });

async function given(...saves: unknown[][]): Promise<TranscriptScene> {
  const scene = new TranscriptScene();
  for (const messages of saves) await scene.save(messages, scene.seq);
  return scene;
}

const rowIdsOf = (data: { rows: { rowId: number }[] } | undefined) => data?.rows.map(({ rowId }) => rowId);

test('save: the same array again logs nothing', async () => {
  const rows = [user('hi'), agent('hello'), 'a text', 7, null, [1, { a: [] }], { kind: 'system', text: 'x' }];
  const scene = await given(rows);
  assert.equal(await scene.load(), rows);
  assert.is(await scene.save(rows), undefined);
  assert.is(await scene.save(rows, scene.seq), undefined);
});

test('save: an empty array begins a transcript, once', async () => {
  const scene = await given([]);
  assert.equal(await scene.load(), []);
  assert.is(await scene.save([]), undefined);
  assert.is(scene.log.length, 1);
});

test('save: a tool call goes from pending to completed in its place', async () => {
  const scene = await given([user('go'), call('pending'), agent('…')]);
  const after = [user('go'), call('completed', { result: 'ok' }), agent('…')];
  const logged = await scene.save(after);
  assert.equal(logged, {
    scopeId: 'thread:one',
    rows: [{ rowId: 2, row: JsonText.of(after[1]) }],
    removed: [],
  });
  assert.equal(await scene.load(), after);
});

test('save: a tool call that is completed is not set back by a late save without base', async () => {
  const scene = await given([user('go'), call('pending')], [user('go'), call('completed', { result: 'ok' })]);
  assert.is(await scene.save([user('go'), call('pending')]), undefined);
  assert.is(await scene.save([user('go'), call('pending')], 1), undefined);
});

test('save: kind, turnId and segmentId name a row', async () => {
  const segment = (text: string) => ({ kind: 'thinking', turnId: 't1', segmentId: 's1', text });
  const scene = await given([user('go'), segment('first')]);
  assert.equal(rowIdsOf(await scene.save([user('go'), segment('another')])), [2]);
  assert.equal(await scene.load(), [user('go'), segment('another')]);
});

test('save: a row with an id is replaced in place, without base too', async () => {
  const scene = await given([byId('a', 'one'), byId('b', 'two'), byId('c', 'three')]);
  assert.equal(rowIdsOf(await scene.save([byId('a', 'one'), byId('b', 'changed'), byId('c', 'three')])), [2]);
  assert.equal(await scene.load(), [byId('a', 'one'), byId('b', 'changed'), byId('c', 'three')]);
});

test('save: a row with an id is brought back to what it was by a client that knew what it had become', async () => {
  const scene = await given([byId('a', 'one')], [byId('a', 'two')]);
  assert.equal(rowIdsOf(await scene.save([byId('a', 'one')], scene.seq)), [1]);
  assert.equal(await scene.load(), [byId('a', 'one')]);
});

test('save: an agent row without id grows in its place', async () => {
  const scene = await given([user('hi'), agent('Hel')]);
  for (const text of ['Hello', 'Hello wor', 'Hello world']) {
    assert.equal(rowIdsOf(await scene.save([user('hi'), agent(text)])), [2]);
  }
  assert.equal(await scene.load(), [user('hi'), agent('Hello world')]);
});

test('save: a row that comes before a growing one does not double it', async () => {
  const scene = await given([user('hi'), agent('Hel')]);
  const after = [user('hi'), { kind: 'thinking', text: 'hm', turnId: 't1' }, agent('Hello')];
  assert.equal(rowIdsOf(await scene.save(after)), [3, 2]);
  assert.equal(await scene.load(), after);
});

test('save: what a user wrote does not grow by itself', async () => {
  const scene = await given([user('a')]);
  await scene.save([user('ab')]);
  assert.equal(await scene.load(), [user('a'), user('ab')]);
});

test('save: a row that says no kind is another row when it says something else', async () => {
  const scene = await given([{ text: 'Hel' }]);
  await scene.save([{ text: 'Hello' }]);
  assert.equal(await scene.load(), [{ text: 'Hel' }, { text: 'Hello' }]);
});

test('save: another text in the place of a row that the client had loaded replaces it', async () => {
  const scene = await given([user('hi'), agent('one'), user('bye')]);
  assert.equal(rowIdsOf(await scene.save([user('hi'), agent('two'), user('bye')], 1)), [2]);
  assert.equal(await scene.load(), [user('hi'), agent('two'), user('bye')]);
});

test('save: another text of another turn is another row', async () => {
  const scene = await given([user('hi'), agent('one', 't1')]);
  await scene.save([user('hi'), agent('one more', 't2')]);
  assert.equal(await scene.load(), [user('hi'), agent('one', 't1'), agent('one more', 't2')]);
});

test('save: two equal rows stay two', async () => {
  const scene = await given([user('yes'), agent('ok'), user('yes')]);
  assert.is(await scene.save([user('yes'), agent('ok'), user('yes')]), undefined);
  assert.equal(rowIdsOf(await scene.save([user('yes'), agent('ok'), user('yes'), user('yes')])), [4]);
  assert.equal(await scene.load(), [user('yes'), agent('ok'), user('yes'), user('yes')]);
});

test('save: of two equal rows the one is taken away that is not there', async () => {
  const scene = await given([user('yes'), agent('ok'), user('yes')]);
  const logged = await scene.save([agent('ok'), user('yes')], scene.seq);
  assert.equal(logged?.removed, [1]);
  assert.equal(logged?.rows, []);
});

test('save: a difference in display time alone is no change of a row without id', async () => {
  const scene = await given([user('yes', '12:00'), user('yes', '12:01')]);
  assert.is(await scene.save([user('yes', '13:00'), user('yes', '13:01')], scene.seq), undefined);
  assert.equal(await scene.load(), [user('yes', '12:00'), user('yes', '12:01')]);
});

test('save: a difference in display time alone is a change of a row with an id', async () => {
  const scene = await given([{ id: 'a', at: 1 }]);
  assert.equal(rowIdsOf(await scene.save([{ id: 'a', at: 2 }])), [1]);
  assert.equal(await scene.load(), [{ id: 'a', at: 2 }]);
});

test('save: a new row comes after the one that it follows', async () => {
  const scene = await given([user('a'), user('c')]);
  assert.equal(await scene.save([user('a'), user('b'), user('c')]), {
    scopeId: 'thread:one',
    rows: [{ rowId: 3, after: 1, row: JsonText.of(user('b')) }],
    removed: [],
  });
  await scene.save([user('0'), user('a'), user('b'), user('c'), user('d')]);
  assert.equal(await scene.load(), [user('0'), user('a'), user('b'), user('c'), user('d')]);
});

test('save: rows that changed places do so with a base, and stay without', async () => {
  const scene = await given([byId('a', '1'), byId('b', '2'), byId('c', '3')]);
  assert.is(await scene.save([byId('c', '3'), byId('a', '1'), byId('b', '2')]), undefined);
  const logged = await scene.save([byId('c', '3'), byId('a', '1'), byId('b', '2')], scene.seq);
  assert.equal(rowIdsOf(logged), [3]);
  assert.equal(await scene.load(), [byId('c', '3'), byId('a', '1'), byId('b', '2')]);
});

test('save: without base nothing is taken away', async () => {
  const scene = await given([user('a'), user('b'), user('c')]);
  assert.is(await scene.save([user('b')]), undefined);
  assert.equal(await scene.load(), [user('a'), user('b'), user('c')]);
});

test('save: rows are kept as they came, whatever they hold', async () => {
  const texts = [
    '{"__proto__":{"a":1},"kind":"user"}',
    '{"text":"a\\u0000b","lone":"\\ud800","time":"x"}',
    '{"b":1,"a":2}',
    '"\\udfff"',
    '[[],{}]',
    '{"id":"","toolCallId":"x"}',
  ];
  const scene = new TranscriptScene();
  await scene.save(texts.map((text) => new JsonText(text)));
  await scene.save([...texts.map((text) => JSON.parse(text)), 'more']);
  const loaded = await scene.load();
  assert.equal(
    loaded?.map((row) => JSON.stringify(row)),
    [...texts, '"more"'],
  );
});

test('save: 700 rows saved at every change log what changed', async () => {
  const directory = new URL(
    '../../../../test/fixtures/crewcode-userdata/userdata/transcripts/',
    import.meta.url,
  );
  const file = await readFile(new URL('transcript.2f1d1493a5edd1adcf56bb39.json', directory), 'utf8');
  const rows: unknown[] = JSON.parse(file).messages;
  assert.is(rows.length, 700);
  const scene = await given(rows);
  const bytesOf = (value: unknown) => JSON.stringify(value).length;
  let text = '';
  for (let round = 0; round < 50; round += 1) {
    text += `and word ${round} `;
    const before = scene.tables.writes;
    const logged = await scene.save([...rows, user('go'), agent(text, 't900')], scene.seq);
    assert.ok(bytesOf(logged) < 300 + text.length, `round ${round} logged ${bytesOf(logged)} bytes`);
    assert.ok(scene.tables.writes - before < 10, `round ${round} wrote ${scene.tables.writes - before} rows`);
  }
  assert.equal((await scene.load())?.slice(700), [user('go'), agent(text, 't900')]);
});

test.run();
