import { type CommittedEvent, streamOf } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { START_AT } from '../testing/fold-bench.ts';
import { CONTINUE_TEXT } from './collapse.ts';
import { conversationAt, type EventsOfStream } from './conversation-at.ts';
import { ConversationBench, KEY } from './conversation-bench.ts';
import { type ConversationQuery, listConversations } from './reads.ts';

async function list(bench: ConversationBench, query?: ConversationQuery): Promise<[string[], string?]> {
  const { conversations, next } = await listConversations(bench.tables, query);
  const keys = conversations.map(({ conversationKey }) => conversationKey);
  return next === undefined ? [keys] : [keys, next];
}

test('list: it tells the count, the time of the last change and the last provider', async () => {
  const bench = new ConversationBench();
  await bench.import('imported', 'q', 'r', 's');
  await bench.turn('t1', 'one', 'first');
  assert.equal((await listConversations(bench.tables)).conversations, [
    { conversationKey: 'imported', messages: 3, updatedAt: START_AT + 1_000 },
    { conversationKey: KEY, messages: 2, updatedAt: START_AT + 3_000, provider: 'codex' },
  ]);
});

test('list: by prefix, provider and text', async () => {
  const bench = new ConversationBench();
  await bench.import('thread:a', 'The quick brown FOX');
  await bench.turn('t1', 'jumps', 'over the lazy dog', 'thread:b');
  await bench.import('web:a', 'nothing');
  assert.equal(await list(bench, { prefix: 'thread:' }), [['thread:a', 'thread:b']]);
  assert.equal(await list(bench, { provider: 'codex' }), [['thread:b']]);
  assert.equal(await list(bench, { text: 'fox' }), [['thread:a']]);
  assert.equal(await list(bench, { text: 'LAZY', prefix: 'thread:' }), [['thread:b']]);
  assert.equal(await list(bench, { text: 'LAZY', prefix: 'web:' }), [[]]);
});

test('list: page by page, each conversation once', async () => {
  const bench = new ConversationBench();
  for (const key of ['a', 'b', 'c', 'd', 'e']) await bench.import(key, key);
  assert.equal(await list(bench, { limit: 2 }), [['a', 'b'], 'b']);
  assert.equal(await list(bench, { limit: 2, after: 'b' }), [['c', 'd'], 'd']);
  assert.equal(await list(bench, { limit: 2, after: 'd' }), [['e']]);
  assert.equal(await list(bench, { limit: 5 }), [['a', 'b', 'c', 'd', 'e']]);
});

function eventsOf(bench: ConversationBench): EventsOfStream & { readonly read: CommittedEvent[] } {
  const read: CommittedEvent[] = [];
  async function* events(stream: string, throughSeq: number): AsyncGenerator<CommittedEvent> {
    for (const event of bench.events) {
      if (event.stream !== stream || event.seq > throughSeq) continue;
      read.push(event);
      yield event;
    }
  }
  return Object.assign(events, { read });
}

test('load at a seq: it is what the projection held then', async () => {
  const bench = new ConversationBench();
  const held = [await bench.shown()];
  const step = async (happening: Promise<unknown>) => {
    await happening;
    held.push(await bench.shown());
  };
  await step(bench.import('other', 'q'));
  await step(bench.start('t1', 'one'));
  await step(bench.output('t1', 'fir'));
  await step(bench.end('t1', { text: 'st' }));
  await step(bench.start('t2', 'two'));
  await step(bench.compact('S', 't2'));
  await step(bench.clear());
  await step(bench.end('t2', { text: 'late' }));
  await step(bench.start('t3', 'three'));
  for (const [seq, expected] of held.entries()) {
    const loaded = await conversationAt(eventsOf(bench), KEY, seq);
    const shown = loaded?.messages.map(({ role, content }) => (role === 'user' ? '>' : '<') + content);
    assert.equal(shown, expected, `at ${seq}`);
  }
  assert.ok(held[6]?.[0]?.endsWith(CONTINUE_TEXT));
});

test('load at a seq: an alias brings what its source held then, and no more', async () => {
  const bench = new ConversationBench();
  await bench.import('first', 'q', 'r');
  await bench.alias('first', 'second');
  await bench.turn('t1', 'only in the first', 'one', 'first');
  await bench.turn('t1', 'in the second', 'two', 'second');
  const { seq } = await bench.alias('second', 'third');
  await bench.turn('t2', 'later', 'three', 'second');
  const contents = async (key: string, at: number) =>
    (await conversationAt(eventsOf(bench), key, at))?.messages.map(({ content }) => content);
  assert.equal(await contents('third', seq), ['q', 'r', 'in the second', 'two']);
  assert.is(await contents('third', seq - 1), undefined);
  assert.equal(await contents('third', 100), ['q', 'r', 'in the second', 'two']);
});

test('load at a seq: aliases in a circle come to an end, those without effect are not followed', async () => {
  const bench = new ConversationBench();
  await bench.alias('b', 'a');
  await bench.alias('a', 'b');
  await bench.import('a', 'q');
  await bench.alias('a', 'b');
  await bench.alias('b', 'a');
  const events = eventsOf(bench);
  assert.equal((await conversationAt(events, 'a', 100))?.messages, [{ role: 'user', content: 'q' }]);
  assert.is(events.read.filter(({ stream }) => stream === streamOf.conversation('b')).length, 0);
});

test.run();
