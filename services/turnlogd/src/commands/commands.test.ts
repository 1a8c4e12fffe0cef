import { type Envelope, type OperationName, type OperationParameters, TurnlogError } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Daemon } from '../daemon.ts';
import { Machine } from '../testing/machine.ts';

const SCOPE = '../scope\n"é"';

interface Case {
  name: OperationName;
  parameters: object;
  /** Other parameters, which the same id must not name. */
  others: object;
  /** What it leaves in the log, completions apart. */
  leaves: string[];
}

const rows = [{ id: 'r1', kind: 'user', text: 'one' }];

const CASES: Case[] = [
  {
    name: 'bridge.record',
    parameters: { bridgeId: 'new', provider: 'claude', conversationKey: 'thread:new' },
    others: { bridgeId: 'new', provider: 'claude', conversationKey: 'thread:other' },
    leaves: ['bridge_requested', 'bridge_started'],
  },
  {
    name: 'bridge.record',
    parameters: { bridgeId: 'b1', provider: 'codex', conversationKey: 'thread:s' },
    others: { bridgeId: 'b1', provider: 'pi', conversationKey: 'thread:s' },
    leaves: [],
  },
  {
    name: 'bridge.event',
    parameters: {
      bridgeId: 'b1',
      events: [
        { type: 'turn_start', turnId: 't2' },
        { type: 'tool_start', turnId: 't2', toolCallId: 'c', toolName: 'read', args: { path: '/' } },
        { type: 'text_delta', turnId: 't2', delta: 'not in the log at once' },
      ],
    },
    others: { bridgeId: 'b1', events: [] },
    leaves: ['turn_started', 'tool_started', 'turn_output'],
  },
  {
    name: 'bridge.event',
    parameters: { bridgeId: 'b1', events: [] },
    others: { bridgeId: 'b1', first: 9, events: [] },
    leaves: [],
  },
  {
    name: 'bridge.stop',
    parameters: { bridgeId: 'b1' },
    others: { bridgeId: 'b2' },
    leaves: ['bridge_stopped'],
  },
  {
    name: 'bridge.resetSession',
    parameters: { sessionKey: 's:codex' },
    others: { sessionKey: 's:pi' },
    leaves: ['session_reset'],
  },
  {
    name: 'conversation.clear',
    parameters: { conversationKey: 'thread:s' },
    others: { conversationKey: 'thread:t' },
    leaves: ['conversation_cleared'],
  },
  {
    name: 'conversation.alias',
    parameters: { from: 'thread:s', to: 'web:s' },
    others: { from: 'thread:s', to: 'web:t' },
    leaves: ['conversation_aliased'],
  },
  {
    name: 'conversation.alias',
    parameters: { from: 'thread:none', to: 'web:s' },
    others: { from: 'thread:s', to: 'web:s' },
    leaves: [],
  },
  {
    name: 'transcripts.save',
    parameters: { scopeId: SCOPE, messages: rows, base: 0 },
    others: { scopeId: SCOPE, messages: [], base: 0 },
    leaves: ['transcript_saved'],
  },
  {
    name: 'transcripts.saveBatch',
    parameters: {
      entries: [
        { scopeId: SCOPE, messages: rows },
        { scopeId: SCOPE, messages: rows },
        { scopeId: '__proto__', messages: rows, base: 0 },
      ],
    },
    others: { entries: [{ scopeId: SCOPE, messages: rows }] },
    leaves: ['transcript_saved', 'transcript_saved'],
  },
  {
    name: 'transcripts.saveBatch',
    parameters: { entries: [] },
    others: { entries: [{ scopeId: 'x', messages: [] }] },
    leaves: [],
  },
  {
    name: 'transcripts.remove',
    parameters: { scopeId: 'x' },
    others: { scopeId: 'y' },
    leaves: ['transcript_removed'],
  },
  {
    name: 'migration.complete',
    parameters: { source: 's', fingerprint: 'f', counts: {} },
    others: { source: 's', fingerprint: 'g', counts: {} },
    leaves: ['migration_completed'],
  },
];

/** A conversation of one turn, on an open bridge. */
async function begin(daemon: Daemon): Promise<void> {
  await call(daemon, 'bridge.record', { bridgeId: 'b1', provider: 'codex', conversationKey: 'thread:s' });
  const events = [
    { type: 'prompt', turnId: 't1', text: 'hello' },
    { type: 'turn_start', turnId: 't1' },
    { type: 'turn_end', turnId: 't1', text: 'hi' },
  ];
  await call(daemon, 'bridge.event', { bridgeId: 'b1', events });
}

async function call(daemon: Daemon, name: OperationName, parameters: object): Promise<object> {
  return await daemon.dispatcher.call(name, parameters as OperationParameters<OperationName>);
}

async function codeOf(task: Promise<unknown>): Promise<string> {
  try {
    await task;
    return 'none';
  } catch (error) {
    return error instanceof TurnlogError ? error.code : String(error);
  }
}

async function typesAfter(daemon: Daemon, seq: number): Promise<string[]> {
  const types: string[] = [];
  for await (const event of daemon.log.read({ from: seq + 1 })) types.push(event.type);
  return types.filter((type) => type !== 'command_completed' && type !== 'turn_interrupted');
}

async function wholeLog(daemon: Daemon): Promise<Envelope[]> {
  const events: Envelope[] = [];
  for await (const event of daemon.log.read()) events.push(event);
  return events;
}

const titleOf = ({ name, leaves }: Case) => `${name}${leaves.length === 0 ? ' that changes nothing' : ''}`;

for (const each of CASES) {
  const { name, parameters, others, leaves } = each;
  const command = { ...parameters, commandId: 'one \u{1f600}' };

  test(`commands: ${titleOf(each)} twice is done once and answered alike, after a restart too`, async () => {
    await Machine.with(async (machine) => {
      let daemon = await machine.start();
      await begin(daemon);
      const head = daemon.log.head();
      const answers = await Promise.all([1, 2, 3].map(() => call(daemon, name, command)));
      const end = daemon.log.head();
      assert.equal(answers[1], answers[0]);
      assert.equal(answers[2], answers[0]);
      assert.equal(await typesAfter(daemon, head), leaves);
      assert.is(
        await codeOf(call(daemon, name, { ...others, commandId: command.commandId })),
        'event_conflict',
      );
      const otherName = name === 'transcripts.remove' ? 'transcripts.load' : 'transcripts.remove';
      if (otherName === 'transcripts.remove') {
        const other = { scopeId: 'x', commandId: command.commandId };
        assert.is(await codeOf(call(daemon, otherName, other)), 'event_conflict');
      }
      assert.is(daemon.log.head(), end);

      await daemon.close();
      await machine.recover();
      daemon = await machine.start();
      assert.equal(await call(daemon, name, command), answers[0]);
      assert.is(
        await codeOf(call(daemon, name, { ...others, commandId: command.commandId })),
        'event_conflict',
      );
      assert.is(daemon.log.head(), end);
      await daemon.close();
    });
  });

  for (const point of ['before', 'after'] as const) {
    test(`commands: ${titleOf(each)}, killed ${point} each append, is done once by who sends it again`, async () => {
      for (let appends = 0; ; appends += 1) {
        const isOver = await Machine.with(async (machine) => {
          let daemon = await machine.start();
          await begin(daemon);
          const head = daemon.log.head();
          const { life } = machine;
          let seen = 0;
          daemon.log.onCommit(() => {
            seen += 1;
            if (seen === appends) life.crashAt = point;
          });
          if (appends === 0) life.crashAt = point;
          const outcome = await Promise.race([call(daemon, name, command), life.killed]);
          await machine.recover({ index: appends % 2 === 1, projections: true });
          daemon = await machine.start();
          const again = await call(daemon, name, command);
          if (outcome !== 'killed') assert.equal(again, outcome);
          assert.equal(await call(daemon, name, command), again);
          assert.equal(await typesAfter(daemon, head), leaves);
          await daemon.close();
          return outcome !== 'killed';
        });
        if (isOver) break;
        assert.ok(appends < 20);
      }
    });
  }
}

test('commands: one that changed nothing changes nothing later either', async () => {
  await Machine.with(async (machine) => {
    const daemon = await machine.start();
    const alias = { from: 'thread:s', to: 'web:s', commandId: 'early' };
    const early = await call(daemon, 'conversation.alias', alias);
    assert.equal(early, { seq: 1, aliased: false, reason: 'no_source' });
    // Nothing has happened to the conversation, so its stream is as it was.
    assert.is((await wholeLog(daemon)).at(-1)?.stream, 'commands');
    await begin(daemon);
    assert.equal(await call(daemon, 'conversation.alias', alias), early);
    const load = call(daemon, 'conversation.load', { conversationKey: 'web:s' });
    assert.is(await codeOf(load), 'conversation_not_found');
    await daemon.close();
  });
});

test('commands: a part that was done before a crash is not done over what others did since', async () => {
  await Machine.with(async (machine) => {
    let daemon = await machine.start();
    const row = (text: string) => [{ id: 'r1', text }];
    const entries = ['a', 'b'].map((scopeId) => ({ scopeId, messages: row('mine') }));
    const { life } = machine;
    const stop = daemon.log.onCommit(() => {
      life.crashAt = 'before';
      stop();
    });
    const batch = { entries, commandId: 'c' };
    const outcome = await Promise.race([call(daemon, 'transcripts.saveBatch', batch), life.killed]);
    assert.is(outcome, 'killed');
    await machine.recover();
    daemon = await machine.start();
    await call(daemon, 'transcripts.save', { scopeId: 'a', messages: row('theirs') });
    await call(daemon, 'transcripts.saveBatch', batch);
    const load = async (scopeId: string) =>
      JSON.parse(JSON.stringify(await call(daemon, 'transcripts.load', { scopeId }))).messages;
    assert.equal(await load('a'), row('theirs'));
    assert.equal(await load('b'), row('mine'));
    // What it does not know to be another command would be done beside it.
    const others = { entries: [{ scopeId: 'z', messages: [] }], commandId: 'c' };
    assert.is(await codeOf(call(daemon, 'transcripts.saveBatch', others)), 'event_conflict');
    await daemon.close();
  });
});

test('commands: one that was refused leaves nothing and may be sent again', async () => {
  await Machine.with(async (machine) => {
    const daemon = await machine.start();
    const stop = { bridgeId: 'b1', commandId: 'c' };
    assert.is(await codeOf(call(daemon, 'bridge.stop', stop)), 'bridge_not_found');
    assert.is(daemon.log.head(), 0);
    await begin(daemon);
    await call(daemon, 'bridge.stop', stop);
    assert.equal(await typesAfter(daemon, 4), ['bridge_stopped']);
    await daemon.close();
  });
});

test('commands: the owner token is answered again and is in no event', async () => {
  await Machine.with(async (machine) => {
    const daemon = await machine.start();
    const record = { bridgeId: 'b', provider: 'codex', commandId: 'c' };
    const { ownerToken } = (await call(daemon, 'bridge.record', record)) as { ownerToken: string };
    const attached = (await call(daemon, 'bridge.record', { ...record, commandId: 'd' })) as {
      ownerToken: string;
    };
    assert.is(attached.ownerToken, ownerToken);
    await call(daemon, 'bridge.stop', { bridgeId: 'b' });
    assert.equal((await call(daemon, 'bridge.record', record)) as object, {
      seq: 3,
      ownerToken,
      accepted: 0,
      durableThrough: 0,
      attached: false,
    });
    assert.ok(ownerToken.length > 20);
    assert.not.ok(JSON.stringify(await wholeLog(daemon)).includes(ownerToken));
    await daemon.close();
  });
});

test('commands: the events that one caused carry its id', async () => {
  await Machine.with(async (machine) => {
    const daemon = await machine.start();
    await begin(daemon);
    await call(daemon, 'conversation.clear', { conversationKey: 'thread:s', commandId: 'c' });
    const caused = (await wholeLog(daemon)).filter(({ meta }) => meta.commandId === 'c');
    assert.equal(
      caused.map(({ type, stream }) => `${type} ${stream}`),
      ['conversation_cleared conversation:thread:s', 'command_completed conversation:thread:s'],
    );
    await daemon.close();
  });
});

test('commands: an event is told with the seq that it has, again too', async () => {
  await Machine.with(async (machine) => {
    const daemon = await machine.start();
    await begin(daemon);
    await call(daemon, 'bridge.record', { bridgeId: 'b2', provider: 'pi', conversationKey: 'thread:s' });
    const open = [{ type: 'turn_start', turnId: 'open' }];
    await call(daemon, 'bridge.event', { bridgeId: 'b2', events: open });
    // The turn of the other bridge is interrupted before: its event has a place in the same append.
    const report = { bridgeId: 'b1', events: [{ type: 'turn_start', turnId: 'mine' }], commandId: 'c' };
    const first = (await call(daemon, 'bridge.event', report)) as { emitted: { seq?: number }[] };
    const seq = first.emitted[0]?.seq ?? 0;
    const started = (await wholeLog(daemon)).find((event) => event.seq === seq);
    assert.is((started?.data as { turnId?: string } | undefined)?.turnId, 'mine');
    assert.equal(await call(daemon, 'bridge.event', report), first);
    await daemon.close();
  });
});

test('commands: live events are told once each and in order, with a command too', async () => {
  await Machine.with(async (machine) => {
    const daemon = await machine.start();
    await begin(daemon);
    const told: string[] = [];
    const stopped = new AbortController();
    const listening = (async () => {
      for await (const event of daemon.subscribe('live.subscribe', {}, stopped.signal)) {
        told.push('delta' in event ? event.delta : event.type);
        if (event.type === 'turn_end') stopped.abort();
      }
    })();
    const report = (commandId: string, ...events: object[]) =>
      call(daemon, 'bridge.event', { bridgeId: 'b1', events, commandId });
    const delta = (text: string) => ({ type: 'text_delta', turnId: 't2', delta: text });
    const first = [
      { type: 'turn_start', turnId: 't2' },
      delta('a'),
      { type: 'status', message: 'x' },
      delta('b'),
    ];
    await report('1', ...first);
    await report('2', delta('c'));
    await report('1', ...first);
    await report('3', { type: 'turn_end', turnId: 't2' });
    await listening;
    assert.equal(told, ['turn_start', 'a', 'status', 'b', 'c', 'turn_end']);
    const { messages } = (await call(daemon, 'conversation.load', { conversationKey: 'thread:s' })) as {
      messages: { content: string }[];
    };
    assert.is(messages.at(-1)?.content, 'abc');
    await daemon.close();
  });
});

test('commands: the longest id does, an ill-formed one does not', async () => {
  await Machine.with(async (machine) => {
    const daemon = await machine.start();
    const remove = (commandId: string) => call(daemon, 'transcripts.remove', { scopeId: 'x', commandId });
    assert.equal(await remove('x'.repeat(4_096)), await remove('x'.repeat(4_096)));
    assert.is(daemon.log.head(), 2);
    assert.is(await codeOf(remove('x'.repeat(4_097))), 'invalid_argument');
    assert.is(await codeOf(remove('\ud800')), 'invalid_argument');
    assert.is(await codeOf(remove('')), 'invalid_argument');
    await daemon.close();
  });
});

test('commands: an operation that only reads takes no id', async () => {
  await Machine.with(async (machine) => {
    const daemon = await machine.start();
    assert.is(
      await codeOf(call(daemon, 'session.get', { sessionKey: 's', commandId: 'c' })),
      'invalid_argument',
    );
    await daemon.close();
  });
});

test.run();
