/*
 * What is no key is refused by every operation that takes one, and nothing is written.
 */
import { type OperationName, type OperationParameters, TurnlogError } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, openHost } from './support/daemon-in-process.ts';
import { NO_KEYS, overTheWire } from './support/hostile-values.ts';

let host: Host;
let close: () => Promise<void>;

test.before(async () => {
  ({ host, close } = await openHost());
});

test.after(async () => {
  await close();
});

async function codeOf(task: Promise<unknown>): Promise<string> {
  try {
    await task;
    return 'none';
  } catch (error) {
    return error instanceof TurnlogError ? error.code : String(error);
  }
}

/** Parameters of each operation that takes keys, all in order but for the key. */
const WITH_KEY: readonly [OperationName, (key: unknown) => object][] = [
  ['bridge.record', (key) => ({ bridgeId: key, provider: 'codex' })],
  ['bridge.record', (key) => ({ bridgeId: 'b', provider: key })],
  ['bridge.record', (key) => ({ bridgeId: 'b', provider: 'codex', conversationKey: key })],
  ['bridge.record', (key) => ({ bridgeId: 'b', provider: 'codex', sessionKey: key })],
  ['bridge.record', (key) => ({ bridgeId: 'b', provider: 'codex', commandId: key })],
  ['bridge.event', (key) => ({ bridgeId: key, events: [] })],
  ...(
    [
      (key) => ({ type: 'turn_start', turnId: key }),
      (key) => ({ type: 'prompt', text: '', promptId: key }),
      (key) => ({ type: 'prompt', text: '', turnId: key }),
      (key) => ({ type: 'tool_start', turnId: 't', toolCallId: key, toolName: 'x' }),
      (key) => ({ type: 'user_request', requestId: key, kind: '', title: '' }),
      (key) => ({ type: 'follow_up_queued', promptId: key, text: '' }),
      (key) => ({ type: 'compaction_event', status: 'completed', keptFromTurnId: key }),
      (key) => ({ type: 'ready', bridgeId: key }),
    ] satisfies ((key: unknown) => object)[]
  ).map((report): [OperationName, (key: unknown) => object] => [
    'bridge.event',
    (key) => ({ bridgeId: 'open', events: [report(key)] }),
  ]),
  ['bridge.stop', (key) => ({ bridgeId: key })],
  ['bridge.resetSession', (key) => ({ sessionKey: key })],
  ['bridge.resetSession', (key) => ({ sessionKey: 's', conversationKey: key })],
  ['conversation.list', (key) => ({ after: key })],
  ['conversation.list', (key) => ({ provider: key })],
  ['conversation.load', (key) => ({ conversationKey: key })],
  ['conversation.replay', (key) => ({ conversationKey: key })],
  ['conversation.clear', (key) => ({ conversationKey: key })],
  ['conversation.alias', (key) => ({ from: key, to: 'a' })],
  ['conversation.alias', (key) => ({ from: 'a', to: key })],
  ['session.get', (key) => ({ sessionKey: key })],
  ['transcripts.save', (key) => ({ scopeId: key, messages: [] })],
  ['transcripts.saveBatch', (key) => ({ entries: [{ scopeId: key, messages: [] }] })],
  ['transcripts.load', (key) => ({ scopeId: key })],
  ['transcripts.loadAll', (key) => ({ after: key })],
  ['transcripts.remove', (key) => ({ scopeId: key })],
  ['token.revoke', (key) => ({ id: key })],
  ['migration.readBack', (key) => ({ subjects: [{ kind: 'session', key }] })],
];

test('hostile: what is no key is refused wherever a key is asked for, and nothing is written', async () => {
  await host.daemon.dispatcher.call('bridge.record', { bridgeId: 'open', provider: 'codex' });
  const head = host.daemon.log.head();
  for (const [operation, parametersOf] of WITH_KEY) {
    for (const key of NO_KEYS) {
      const parameters = overTheWire(parametersOf(key)) as OperationParameters<typeof operation>;
      const code = await codeOf(host.daemon.dispatcher.call(operation, parameters));
      assert.is(code, 'invalid_argument', `${operation} ${JSON.stringify(parameters).slice(0, 100)}`);
    }
  }
  assert.is(host.daemon.log.head(), head);
});

test('hostile: a key that would be too long with its provider is refused by name', async () => {
  const conversationKey = 'k'.repeat(4_096);
  const record = host.daemon.dispatcher.call('bridge.record', {
    bridgeId: 'long',
    provider: 'codex',
    conversationKey,
  });
  const error = (await record.catch((refusal: unknown) => refusal)) as TurnlogError;
  assert.is(error.code, 'invalid_argument');
  assert.match(error.message, /sessionKey/);
});

test.run();
