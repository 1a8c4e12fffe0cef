import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProjectionError } from '../errors.ts';
import { fileDigestOf } from '../file-digest.ts';
import { MemoryUserData } from '../testing/memory-user-data.ts';
import { readUserData } from './read-user-data.ts';
import { USER_DATA_FILE_BYTES_MAX } from './user-data.ts';

const shardOf = (key: string) => `conversations/agent-conversations.${fileDigestOf(key)}.json`;
const transcriptOf = (scopeId: string) => `transcripts/transcript.${fileDigestOf(scopeId)}.json`;
const user = (content: string) => ({ role: 'user', content });

const read = (files: Record<string, string | Uint8Array | object>) =>
  readUserData(new MemoryUserData(files), '/data');

test('user data: a shard is read in both shapes', async () => {
  const { shards, problems } = await read({
    [shardOf('a')]: { conversations: { a: [user('1')] } },
    [shardOf('b')]: { sessionId: 'b', messages: [user('2')] },
  });
  assert.equal(shards.map(({ conversationKey, messages }) => [conversationKey, messages]).sort(), [
    ['a', [user('1')]],
    ['b', [user('2')]],
  ]);
  assert.equal(problems, []);
});

test('user data: a shard holds the conversation of its name only', async () => {
  const { shards, problems } = await read({
    [shardOf('c')]: { conversations: { 'not-c': [user('x')], c: [user('own')] } },
    [shardOf('d')]: { sessionId: 'not-d', messages: [user('x')] },
    [shardOf('e')]: { conversations: {} },
  });
  assert.equal(
    shards.map(({ conversationKey }) => conversationKey),
    ['c'],
  );
  assert.equal(
    problems.map(({ file, key }) => [file, key]).sort(),
    [
      [shardOf('c'), 'not-c'],
      [shardOf('d'), 'not-d'],
      [shardOf('e'), undefined],
    ].sort(),
  );
});

test('user data: rows that are no messages are set aside with their place', async () => {
  const system = { role: 'system', content: 's' };
  const list = { role: 'user', content: [{ type: 'text', text: 'array content' }] };
  const { shards, problems } = await read({
    [shardOf('d')]: { sessionId: 'd', messages: [system, list, user('ok'), null, 7] },
  });
  assert.equal(problems, []);
  assert.equal(shards[0]?.messages, [user('ok')]);
  assert.equal(
    shards[0]?.setAside.map(({ place, row }) => [place, row.parse()]),
    [
      [0, system],
      [1, list],
      [3, null],
      [4, 7],
    ],
  );
});

test('user data: hostile keys are data, and keys that cannot be kept are reported', async () => {
  const { monolith, problems } = await read({
    'agent-conversations.json':
      '{"conversations":{"__proto__":[{"role":"user","content":"p"}],"constructor":[],"":[],"\\ud800":[],' +
      `"${'k'.repeat(4097)}":[],"../../etc/passwd":[{"role":"user","content":"\\ud800","__proto__":{"x":1}}]}}`,
  });
  assert.equal(
    monolith.map(({ conversationKey, messages }) => [conversationKey, messages]),
    [
      ['__proto__', [user('p')]],
      ['constructor', []],
      ['../../etc/passwd', [user('\ud800')]],
    ],
  );
  assert.is(problems.length, 3);
});

test('user data: each file that cannot be read is one problem and ends nothing', async () => {
  const good = shardOf('good');
  const files = new MemoryUserData({
    'agent-conversations.json': '{"conversations": {"tab-1:ollama": [{"role": "user", "content": "old q',
    'agent-sessions.json': '',
    [good]: { conversations: { good: [user('1')] } },
    [shardOf('null')]: 'null',
    [shardOf('empty')]: '',
    [shardOf('denied')]: '{}',
    [shardOf('large')]: '{}',
    [`${shardOf('directory')}/inner`]: '',
    [shardOf('no list')]: { conversations: { 'no list': 'text' } },
    [shardOf('deep')]: `{"sessionId":"deep","messages":[${'['.repeat(200_000)}${']'.repeat(200_000)}]}`,
    [transcriptOf('torn')]: '{"scopeId":"torn","messages":[{"ki',
    [transcriptOf('no list')]: { scopeId: 'no list' },
    [transcriptOf('no scope')]: { messages: [] },
  });
  files.failing.set(shardOf('denied'), 'EACCES');
  files.sizes.set(shardOf('large'), USER_DATA_FILE_BYTES_MAX + 1);
  const userData = await readUserData(files, '/data');
  assert.equal(
    userData.shards.map(({ conversationKey }) => conversationKey),
    ['good'],
  );
  assert.equal(
    userData.problems.map(({ file }) => file).sort(),
    [
      'agent-conversations.json',
      'agent-sessions.json',
      ...['null', 'empty', 'denied', 'large', 'directory', 'no list', 'deep'].map(shardOf),
      ...['torn', 'no list', 'no scope'].map(transcriptOf),
    ].sort(),
  );
  assert.equal(userData.unread, ['agent-conversations.json', 'agent-sessions.json']);
  assert.ok(userData.problems.every(({ reason }) => reason !== '' && !reason.includes('/data')));
});

test('user data: files beside the known ones are not read', async () => {
  const content = { conversations: { a: [user('backup')] } };
  const userData = await read({
    [`${shardOf('a')}.bak`]: content,
    [`${shardOf('a')}~`]: content,
    [`conversations/old-${shardOf('a').slice(14)}`]: content,
    'agent-conversations.json.bak': content,
    'conversations/.agent-conversations-cleared.json.bak': ['b'],
    'transcripts/transcript.json': { scopeId: 's', messages: [] },
  });
  const { shards, monolith, cleared, transcripts, problems } = userData;
  assert.equal([shards, monolith, transcripts, problems], [[], [], [], []]);
  assert.equal(cleared, { keys: [], unknownEntry: false });
});

test('user data: usage is kept as CrewCode reads it, and what is no figure is dropped and reported', async () => {
  const { sessions, problems } = await read({
    'agent-sessions.json': {
      sessions: { 'tab-1:claude': 'uuid-1', 'tab-2:pi': 7, empty: '' },
      usage: {
        'tab-1:claude': { contextTokens: -5 },
        'tab-9:gone': { contextTokens: 120000.7, contextWindow: 200000, model: 'm', extra: 1 },
        'tab-3:pi': { contextTokens: '9' },
        'tab-4:pi': { contextTokens: 0, contextWindow: -1, model: 5 },
        'tab-5:pi': null,
      },
    },
  });
  assert.equal(sessions, [
    { sessionKey: 'tab-1:claude', sessionId: 'uuid-1' },
    { sessionKey: 'empty', sessionId: '' },
    { sessionKey: 'tab-9:gone', usage: { contextTokens: 120000, contextWindow: 200000, model: 'm' } },
    { sessionKey: 'tab-4:pi', usage: { contextTokens: 0 } },
  ]);
  assert.equal(
    problems.map(({ key }) => key),
    ['tab-2:pi', 'tab-1:claude', 'tab-3:pi', 'tab-4:pi', 'tab-4:pi', 'tab-5:pi'],
  );
});

test('user data: transcript rows are kept as they are', async () => {
  const rows = '[{"kind":"user","text":"\\ud800","__proto__":{"a":1}},{"nested":[1,[2]],"n":1e3}]';
  const { transcripts, problems } = await read({ [transcriptOf('s')]: `{"scopeId":"s","messages":${rows}}` });
  assert.equal(problems, []);
  assert.equal(
    transcripts.map(({ scopeId }) => scopeId),
    ['s'],
  );
  assert.equal(
    transcripts[0]?.rows.map(({ text }) => text),
    ['{"kind":"user","text":"\\ud800","__proto__":{"a":1}}', '{"nested":[1,[2]],"n":1000}'],
  );
});

test('user data: a transcript under a strange name counts where its scope has no file of its own', async () => {
  const strange = (digit: string) => `transcripts/transcript.${digit.repeat(24)}.json`;
  const { transcripts, problems } = await read({
    [strange('0')]: { scopeId: 'owned', messages: [{ from: 'strange' }] },
    [transcriptOf('owned')]: { scopeId: 'owned', messages: [{ from: 'own' }] },
    [strange('f')]: { scopeId: 'owned', messages: [{ from: 'strange' }] },
    [strange('1')]: { scopeId: 'lost', messages: [{ from: 'strange' }, null] },
  });
  assert.equal(transcripts.map(({ scopeId, rows }) => [scopeId, rows.map((row) => row.parse())]).sort(), [
    ['lost', [{ from: 'strange' }]],
    ['owned', [{ from: 'own' }]],
  ]);
  assert.equal(problems.map(({ file }) => file).sort(), [strange('0'), strange('1'), strange('f')]);
});

test('user data: a directory that is no user data is told from one that cannot be read', async () => {
  const files = new MemoryUserData({});
  const { problems } = await readUserData(files, '/data');
  assert.equal(
    problems.map(({ file }) => file),
    ['.'],
  );
  files.failing.set('', 'ENOENT');
  try {
    await readUserData(files, '/data');
    assert.unreachable();
  } catch (error) {
    assert.instance(error, ProjectionError);
    assert.is((error as ProjectionError).code, 'invalid_argument');
  }
});

test('user data: any JSON in any file is read without an error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), async (one, two, three) => {
      const userData = await read({
        'agent-conversations.json': JSON.stringify({ conversations: one }),
        'agent-sessions.json': JSON.stringify({ sessions: two, usage: three }),
        [shardOf('a')]: JSON.stringify(two),
        [shardOf('b')]: JSON.stringify({ sessionId: 'b', messages: three }),
        [transcriptOf('s')]: JSON.stringify({ scopeId: 's', messages: one }),
        'conversations/.agent-conversations-cleared.json': JSON.stringify(three),
      });
      assert.is(userData.transcripts.length, Array.isArray(one) ? 1 : 0);
      assert.is(
        userData.cleared.unknownEntry,
        !(Array.isArray(three) && three.every((key) => typeof key === 'string')),
      );
    }),
  );
});

test.run();
