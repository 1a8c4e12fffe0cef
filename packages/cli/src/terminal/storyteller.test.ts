import type { LiveEvent } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coloursFor } from './colours.ts';
import { Storyteller } from './storyteller.ts';

const plain = coloursFor({}, {});
const tell = (teller: Storyteller, ...live: object[]) => teller.tell({ type: 'x', live });

test('storyteller: text runs on over deltas, and anything else begins a line of its own', () => {
  const teller = new Storyteller({ colours: plain, width: undefined });
  const told = [
    tell(teller, { type: 'turn_start', turnId: 't' }),
    tell(teller, { type: 'thinking_delta', turnId: 't', delta: 'hm' }),
    tell(teller, { type: 'text_delta', turnId: 't', delta: 'one ' }),
    tell(teller, { type: 'text_delta', turnId: 't', delta: 'two' }),
    tell(teller, { type: 'tool_start', turnId: 't', toolCallId: 'c', toolName: 'ls', args: { path: '/' } }),
    tell(teller, { type: 'tool_end', turnId: 't', toolCallId: 'c', isError: true, result: 'no' }),
    tell(teller, { type: 'turn_end', turnId: 't' }),
    tell(teller, { type: 'text_delta', turnId: 't', delta: 'open' }),
    teller.end(),
    teller.end(),
  ].join('');
  assert.is(told, '\nassistant\nhm\none two\n· tool ls: {"path":"/"}\n· tool has failed: no\nopen\n');
});

test('storyteller: nothing that was said reaches the terminal as more than text', () => {
  const teller = new Storyteller({ colours: plain, width: 30 });
  const evil = '\u001b]0;x\u0007\u202e\n';
  const events: LiveEvent[] = [
    { type: 'text_delta', bridgeId: evil, turnId: evil, delta: evil },
    { type: 'thinking_delta', bridgeId: evil, turnId: evil, delta: evil },
    { type: 'turn_end', bridgeId: evil, turnId: evil, text: evil },
    {
      type: 'tool_start',
      bridgeId: evil,
      turnId: evil,
      toolCallId: evil,
      toolName: evil,
      args: { [evil]: evil },
    },
    { type: 'tool_end', bridgeId: evil, turnId: evil, toolCallId: evil, result: evil },
    { type: 'user_request', bridgeId: evil, requestId: evil, kind: evil, title: evil },
    { type: 'user_request_resolved', bridgeId: evil, requestId: evil, action: evil },
    { type: 'error', bridgeId: evil, code: evil, message: evil },
  ];
  const told = teller.tell({ type: evil, prompt: evil, live: events });
  assert.not.match(told, /[\u001b\u0007\u202e]/);
  for (const line of told.split('\n').filter((line) => line.startsWith('·')))
    assert.ok(line.length <= 30, line);
});

test('storyteller: what no live event speaks of is noted', () => {
  const teller = new Storyteller({ colours: plain, width: undefined });
  assert.is(teller.tell({ type: 'conversation_cleared', live: [] }), '· the conversation was cleared\n');
  assert.is(teller.tell({ type: 'bridge_requested', live: [] }), '');
});

test.run();
