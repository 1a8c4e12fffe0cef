/* Anything at all to any operation: an answer or a refusal, never a fault, and a store that stays sound. */
import { ERROR_CODES, type OperationName, operations, TurnlogError } from '@turnlog/events';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, withHost } from './support/daemon-in-process.ts';
import { HOSTILE_TEXTS, HOSTILE_VALUES, NO_KEYS, overTheWire, tooDeep } from './support/hostile-values.ts';

const RUNS = 1_000;

const anyKey = fc.constantFrom('a', 'b', 'thread:a', 'web:a', '__proto__', 'é', '\0', 'a:codex');
const anyText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS.map((text) => text.slice(0, 200))),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.constantFrom(...HOSTILE_VALUES),
  fc.constantFrom(...NO_KEYS),
  anyText,
  fc.constant(null).map(tooDeep),
);

const turnId = fc.constantFrom('t1', 't2', '__proto__');
const report: fc.Arbitrary<object> = fc.oneof(
  fc.record(
    { type: fc.constant('prompt'), text: anyText, turnId, promptId: anyKey },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.record({ type: fc.constantFrom('turn_start', 'turn_end'), turnId }),
  fc.record({ type: fc.constantFrom('text_delta', 'thinking_delta'), turnId, delta: anyText }),
  fc.record({
    type: fc.constant('turn_end'),
    turnId,
    text: anyText,
    usage: fc.record({ contextTokens: fc.double({ min: 0 }), contextWindow: fc.nat(), model: anyText }),
  }),
  fc.record({
    type: fc.constant('tool_start'),
    turnId,
    toolCallId: anyKey,
    toolName: anyText,
    args: anyJson,
  }),
  fc.record({ type: fc.constant('tool_end'), turnId, toolCallId: anyKey, result: anyJson }),
  fc.record(
    {
      type: fc.constant('compaction_event'),
      status: fc.constantFrom('started', 'completed', 'failed', 'detected'),
      summary: anyText,
      keptFromTurnId: turnId,
    },
    { requiredKeys: ['type', 'status'] },
  ),
  fc.record({ type: fc.constant('closed'), code: fc.option(fc.nat()) }),
  fc.record({ type: anyText, turnId: anyJson }),
);

/** Parameters that an operation may well take, before something of them is replaced. */
const plausible: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    bridgeId: anyKey,
    provider: fc.constantFrom('codex', 'claude', 'plugin:x', 'nobody'),
    conversationKey: anyKey,
    sessionKey: anyKey,
    scopeId: anyKey,
    from: fc.oneof(anyKey, fc.nat({ max: 50 })),
    to: anyKey,
    events: fc.array(report, { maxLength: 5 }),
    messages: fc.array(anyJson, { maxLength: 4 }),
    entries: fc.array(fc.record({ scopeId: anyKey, messages: fc.array(anyJson, { maxLength: 3 }) }), {
      maxLength: 3,
    }),
    base: fc.nat({ max: 100 }),
    first: fc.integer({ min: -1, max: 20 }),
    after: anyKey,
    limit: fc.integer({ min: -1, max: 1_001 }),
    prefix: anyText,
    text: anyText,
    at: fc.oneof(fc.nat(), fc.constantFrom('2026-01-01', 'never', '')),
    stream: fc.oneof(
      anyText,
      anyKey.map((key) => `conversation:${key}`),
    ),
    type: anyText,
    only: fc.array(anyText, { maxLength: 2 }),
    check: fc.boolean(),
    commandId: fc.option(anyKey),
    directory: anyText.map((text) => `/nowhere at all/${text}`),
    dryRun: fc.boolean(),
    items: fc.array(anyJson, { maxLength: 2 }),
    subjects: fc.array(
      fc.record({ kind: fc.constantFrom('session', 'transcript', 'cleared', 'conversation'), key: anyKey }),
      { maxLength: 3 },
    ),
    source: anyText,
    fingerprint: anyText,
    counts: fc.dictionary(anyText, fc.nat(), { maxKeys: 3 }),
    id: anyKey,
    name: anyText,
    scope: fc.constantFrom('local', 'web', 'other'),
  },
  { requiredKeys: [] },
);

const operationName = fc.constantFrom(...(Object.keys(operations) as OperationName[]));

/** For the most part what the operation knows; some of it replaced by anything. */
const call: fc.Arbitrary<[name: string, parameters: unknown]> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(operationName, plausible, fc.option(fc.tuple(fc.nat(), anyJson), { freq: 2 }), fc.boolean())
      .map(([name, values, replaced, isStrict]): [string, unknown] => {
        const known = Object.keys(operations[name].parameters.properties);
        const parameters = Object.fromEntries(
          Object.entries(values).filter(
            ([field, value]) => (known.includes(field) || !isStrict) && value !== null,
          ),
        );
        const field = replaced === null ? undefined : known[replaced[0] % (known.length || 1)];
        if (field !== undefined) parameters[field] = replaced?.[1];
        return [name, parameters];
      }),
  },
  { weight: 2, arbitrary: fc.tuple(operationName, anyJson) },
  { weight: 1, arbitrary: fc.tuple(fc.oneof(anyText, fc.constantFrom('__proto__', 'toString')), anyJson) },
);

/** Mostly who may do everything, and now and then who may not. */
const scopes = fc.constantFrom('local' as const, 'local' as const, 'local' as const, 'web' as const);

async function assertSound(host: Host): Promise<void> {
  const { dispatcher } = host.daemon;
  const { projections } = await dispatcher.call('projections.rebuild', { check: true });
  for (const { name, equal, differences = [] } of projections) assert.ok(equal, `${name}: ${differences}`);
  assert.equal((await dispatcher.call('log.verify', {})).problems, []);
  assert.is((await dispatcher.call('daemon.status', {})).state, 'ready');
}

test('fuzz: whatever is sent is answered or refused by a code that says why', async () => {
  await withHost(async (host) => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(call, scopes, async ([name, parameters], scope) => {
        try {
          const { dispatcher } = host.daemon;
          const answer = await dispatcher.callUnchecked(name, overTheWireOrAsItIs(parameters), { scope });
          overTheWire(answer);
          seen.add(name);
        } catch (error) {
          if (!(error instanceof TurnlogError)) throw error;
          assert.ok(Object.hasOwn(ERROR_CODES, error.code), error.code);
          assert.is.not(error.code, 'internal', error.message);
          assert.ok(
            JSON.stringify(error.toBody()).length < 10_000,
            'what is refused is not repeated at length',
          );
        }
      }),
      { numRuns: RUNS, seed: Date.now() % 2 ** 31 },
    );
    assert.ok(seen.size > 12, `enough of it got through: ${[...seen].join(', ')}`);
    await assertSound(host);
    await host.restart();
    await assertSound(host);
  });
});

/** As a connection would bring it; what is too deep for that comes by a parser that does not mind. */
function overTheWireOrAsItIs(value: unknown): unknown {
  try {
    return overTheWire(value);
  } catch (error) {
    if (error instanceof RangeError) return value;
    throw error;
  }
}

test.run();
