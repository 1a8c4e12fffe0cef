import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TranscriptScene } from '../testing/transcript-scene.ts';

const user = (text: string, time?: string) => ({ kind: 'user', text, ...(time && { time }) });
const agent = (text: string, turnId = 't1') => ({ kind: 'agent', text, turnId });
const byId = (id: string, text: string) => ({ id, kind: 'agent', text });

async function given(...saves: unknown[][]): Promise<TranscriptScene> {
  const scene = new TranscriptScene();
  for (const messages of saves) await scene.save(messages, scene.seq);
  return scene;
}

test('two clients: what both added since they loaded is kept, in order of receipt', async () => {
  const scene = await given([user('a')]);
  await scene.save([user('a'), user('from one')], 1);
  await scene.save([user('a'), user('from two')], 1);
  assert.equal(await scene.load(), [user('a'), user('from one'), user('from two')]);
});

test('two clients: what one took away stays away when the other saves, what the other added stays', async () => {
  const scene = await given([user('a'), agent('b'), user('c')]);
  const logged = await scene.save([user('a'), agent('b')], 1);
  assert.equal(logged?.removed, [3]);
  await scene.save([user('a'), agent('b'), user('c'), agent('d', 't2')], 1);
  assert.equal(await scene.load(), [user('a'), agent('b'), agent('d', 't2')]);
});

test('two clients: an old copy does not overwrite what the other changed', async () => {
  const scene = await given([byId('a', 'one'), byId('b', 'two')]);
  await scene.save([byId('a', 'one, better'), byId('b', 'two')], 1);
  await scene.save([byId('a', 'one'), byId('b', 'two, better')], 1);
  assert.equal(await scene.load(), [byId('a', 'one, better'), byId('b', 'two, better')]);
});

test('two clients: an old copy of a row without id is known by what the row was', async () => {
  const scene = await given([user('hi'), agent('one'), user('bye')]);
  await scene.save([user('hi'), agent('another'), user('bye')], 1);
  await scene.save([user('hi'), agent('one'), user('bye'), user('more')], 1);
  await scene.save([user('hi'), agent('one'), user('bye'), user('more')]);
  assert.equal(await scene.load(), [user('hi'), agent('another'), user('bye'), user('more')]);
});

test('two clients: of two that follow the same stream the one behind sets nothing back', async () => {
  const scene = await given([user('hi'), agent('H')]);
  await scene.save([user('hi'), agent('Hello world')], 1);
  assert.is(await scene.save([user('hi'), agent('Hello')], 1), undefined);
  assert.is(await scene.save([user('hi'), agent('Hello w')]), undefined);
  await scene.save([user('hi'), agent('Hello world!')], 1);
  assert.equal(await scene.load(), [user('hi'), agent('Hello world!')]);
});

test('two clients: of two changes of one row the later counts', async () => {
  const scene = await given([byId('a', 'one')]);
  await scene.save([byId('a', 'two')], 1);
  await scene.save([byId('a', 'three')], 1);
  assert.equal(await scene.load(), [byId('a', 'three')]);
});

test('two clients: a row changed more often than is remembered is not set back while it grows', async () => {
  const scene = await given([user('hi'), agent('0')]);
  let text = '0';
  for (let round = 1; round <= 40; round += 1) {
    text += ` ${round}`;
    await scene.save([user('hi'), agent(text)], scene.seq);
  }
  assert.is(await scene.save([user('hi'), agent('0')], 1), undefined);
  assert.equal(await scene.load(), [user('hi'), agent(text)]);
});

test('two clients: a row that one moved is not moved back by a copy of the old order', async () => {
  const [a, b, c] = [byId('a', '1'), byId('b', '2'), byId('c', '3')];
  const scene = await given([a, b, c], [c, a, b]);
  await scene.save([a, b, c, user('more')], 1);
  assert.equal(await scene.load(), [c, a, b, user('more')]);
});

test('rewind: a late save of the whole old array brings nothing back', async () => {
  const whole = [user('a', '12:00'), agent('b'), user('c', '12:01'), agent('d', 't2')];
  const scene = await given(whole);
  await scene.save(whole.slice(0, 2), 1);
  assert.is(await scene.save(whole), undefined);
  assert.is(await scene.save(whole, 1), undefined);
  assert.equal(await scene.load(), whole.slice(0, 2));
});

test('rewind: what was taken away comes back by a client that knew of it', async () => {
  const whole = [user('a'), agent('b'), byId('c', 'd')];
  const scene = await given(whole, [user('a')]);
  await scene.save(whole, scene.seq);
  assert.equal(await scene.load(), whole);
});

test('rewind: a new "yes" is not an old one', async () => {
  const scene = await given([user('sure?', '12:00'), user('yes', '12:01')], [user('sure?', '12:00')]);
  await scene.save([user('sure?', '12:00'), user('yes', '12:05')]);
  assert.equal(await scene.load(), [user('sure?', '12:00'), user('yes', '12:05')]);
});

test('rewind: of equal rows as many stay away as were taken away', async () => {
  const scene = await given([user('yes'), user('yes')], [user('yes')]);
  assert.is(await scene.save([user('yes'), user('yes')]), undefined);
  await scene.save([user('yes'), user('yes'), user('yes')]);
  assert.equal(await scene.load(), [user('yes'), user('yes')]);
});

test('rewind: what a row was before it was changed and taken away does not come back', async () => {
  const scene = await given([user('a'), agent('one')], [user('a'), agent('two')], [user('a')]);
  assert.is(await scene.save([user('a'), agent('one')]), undefined);
  assert.is(await scene.save([user('a'), agent('one')], 1), undefined);
});

test('rewind: an old answer does not take the place of the one that is being written instead', async () => {
  const scene = await given([user('hi'), agent('Hello')], [user('hi')], [user('hi'), agent('He')]);
  assert.is(await scene.save([user('hi'), agent('Hello')]), undefined);
  assert.equal(await scene.load(), [user('hi'), agent('He')]);
});

test('rewind: a row with an id stays away whatever it says meanwhile', async () => {
  const scene = await given([byId('a', '1'), byId('b', '2')], [byId('a', '1')]);
  assert.is(await scene.save([byId('a', '1'), byId('b', 'changed')]), undefined);
});

test('rewind: an old copy does not overwrite a row that came back under its id', async () => {
  const scene = await given([byId('a', 'old')], [], [byId('a', 'new')]);
  assert.is(await scene.save([byId('a', 'old')]), undefined);
  assert.is(await scene.save([byId('a', 'old')], 1), undefined);
  assert.equal(await scene.load(), [byId('a', 'new')]);
});

test('remove: a save with an older base revives nothing, not even what is new', async () => {
  const scene = await given([user('a')]);
  await scene.remove();
  assert.is(await scene.load(), undefined);
  assert.is(await scene.save([user('a'), user('b')], 1), undefined);
  assert.is(await scene.load(), undefined);
});

test('remove: a save without base brings in what is new only', async () => {
  const scene = await given([user('a', '12:00'), byId('b', 'x')]);
  await scene.remove();
  assert.is(await scene.save([]), undefined);
  assert.is(await scene.save([user('a', '12:00'), byId('b', 'y')]), undefined);
  assert.is(await scene.load(), undefined);
  await scene.save([user('a', '12:00'), byId('b', 'x'), user('c')]);
  assert.equal(await scene.load(), [user('c')]);
});

test('remove: a save that knew of it brings in everything, under new numbers', async () => {
  const scene = await given([user('a'), user('b')]);
  await scene.remove();
  const logged = await scene.save([user('a'), user('b')], scene.seq);
  assert.equal(
    logged?.rows.map(({ rowId }) => rowId),
    [3, 4],
  );
  assert.equal(await scene.load(), [user('a'), user('b')]);
});

test('remove: of a transcript that never was still keeps late saves out', async () => {
  const scene = new TranscriptScene();
  await scene.remove();
  assert.is(await scene.save([user('a')], 0), undefined);
  await scene.save([user('a')], 1);
  assert.equal(await scene.load(), [user('a')]);
});

test.run();
