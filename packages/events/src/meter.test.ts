import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { JsonText } from './json-text.ts';
import { inputIncludesCached } from './meter-sample.ts';
import { initialMeter, METER_MODELS_MAX, METER_TURNS_MAX, snapshotOf, startTurn } from './meter-state.ts';
import { after } from './meter-testing.ts';
import type { UsageReport } from './schema.ts';

test('under-report: the figure is held and only new output is added', () => {
  const meter = after('claude', [
    { turnId: 't1', contextTokens: 42_000, contextWindow: 200_000, outputTokens: 500 },
    { turnId: 't2', contextTokens: 1_200, inputTokens: 900, outputTokens: 300 },
  ]);
  assert.is(meter.contextTokens, 42_300);
});

test('under-report: output counts once a turn, also where the turns come mixed', () => {
  const meter = after('claude', [
    { turnId: 't1', contextTokens: 50_000, contextWindow: 200_000, outputTokens: 100 },
    { turnId: 't1', contextTokens: 900, outputTokens: 150 },
    { turnId: 't2', contextTokens: 900, outputTokens: 40 },
    { turnId: 't1', contextTokens: 900, outputTokens: 150 },
    { turnId: 't2', contextTokens: 900, outputTokens: 30 },
    { turnId: 't2', contextTokens: 900, outputTokens: 60 },
  ]);
  assert.is(meter.contextTokens, 50_110);
});

test('under-report: a turn that begins counts its output anew, also for reports that name no turn', () => {
  let meter = after('pi', [{ turnId: 't1', contextTokens: 50_000, outputTokens: 300 }]);
  meter = after('pi', [{ contextTokens: 10, outputTokens: 200 }], startTurn(meter, 't2'));
  assert.is(meter.contextTokens, 50_200);
  meter = after('pi', [{ turnId: 't2', contextTokens: 10, outputTokens: 50 }], startTurn(meter, 't2'));
  assert.is(meter.contextTokens, 50_250);
});

test('under-report: without any turn a smaller output is a new answer', () => {
  const meter = after('pi', [
    { contextTokens: 50_000, outputTokens: 300 },
    { contextTokens: 10, outputTokens: 200 },
    { contextTokens: 10, outputTokens: 200 },
  ]);
  assert.is(meter.contextTokens, 50_200);
});

test('under-report: the seed of a snapshot keeps the first report of a resumed session from falling', () => {
  const seed = snapshotOf(after('codex', [{ contextTokens: 42_000, contextWindow: 200_000, model: 'm' }]));
  const meter = after('codex', [{ inputTokens: 700, outputTokens: 20 }], initialMeter(seed));
  assert.equal(snapshotOf(meter), { contextTokens: 42_020, contextWindow: 200_000, model: 'm' });
});

test('window: the figure is never above it', () => {
  assert.is(after('codex', [{ contextTokens: 250_000, contextWindow: 200_000 }]).contextTokens, 200_000);
  const full = after('codex', [
    { turnId: 't1', contextTokens: 199_990, contextWindow: 200_000 },
    { turnId: 't1', contextTokens: 150_000, outputTokens: 500 },
  ]);
  assert.is(full.contextTokens, 200_000);
  const beyond = after('codex', [{ inputTokens: 199_900, outputTokens: 300, contextWindow: 200_000 }]);
  assert.is(beyond.contextTokens, 200_000);
  assert.is(beyond.implausibleTokens, undefined);
});

test('window: a missing one is taken from the last report of the same model', () => {
  const meter = after('opencode', [
    { contextTokens: 1_000, contextWindow: 200_000, model: 'large' },
    { contextTokens: 2_000, contextWindow: 32_000, model: 'small' },
  ]);
  assert.is(after('opencode', [{ contextTokens: 3_000 }], meter).contextWindow, 32_000);
  assert.is(after('opencode', [{ contextTokens: 3_000, model: 'large' }], meter).contextWindow, 200_000);
  assert.is(after('opencode', [{ contextTokens: 3_000, model: 'new' }], meter).contextWindow, undefined);
});

test('window: a smaller one of another model caps the figure that was held', () => {
  const meter = after('pi', [
    { contextTokens: 180_000, contextWindow: 1_000_000, model: 'large' },
    { contextTokens: 10, contextWindow: 128_000, model: 'small' },
  ]);
  assert.is(meter.contextTokens, 128_000);
});

test('window: models and turns that are remembered are bounded', () => {
  const reports = Array.from({ length: 100 }, (_, number) => ({
    turnId: `t${number}`,
    model: `m${number}`,
    contextTokens: 1_000 + number,
    contextWindow: 100_000,
  }));
  const meter = after('codex', reports);
  assert.is(meter.windows.length, METER_MODELS_MAX);
  assert.is(meter.turns.length, METER_TURNS_MAX);
});

test('authoritative: a report of Claude with a breakdown may drop, nobody else may', () => {
  const before = { contextTokens: 90_000, contextWindow: 200_000 };
  const report = { contextTokens: 60_000, contextBreakdown: JsonText.of({ system: 3_000 }) };
  assert.is(after('claude', [before, report]).contextTokens, 60_000);
  assert.is(after('pi', [before, report]).contextTokens, 90_000);
  assert.is(after('claude', [before, { contextTokens: 60_000 }]).contextTokens, 90_000);
});

test('cached tokens: each provider counts in its own way', () => {
  const figure = (provider: string, usage: UsageReport) => after(provider, [usage]).contextTokens;
  const codex = { inputTokens: 184_704, cachedTokens: 183_936, outputTokens: 49, totalTokens: 184_753 };
  assert.is(figure('codex', { ...codex, contextWindow: 400_000 }), 184_753);
  const claude = { inputTokens: 4, cachedTokens: 98_210 + 2_241, outputTokens: 847 };
  assert.is(figure('claude', { ...claude, contextWindow: 200_000 }), 101_302);
  assert.is(figure('ollama', { inputTokens: 900, outputTokens: 40, contextWindow: 8_192 }), 940);
  const gemini = { inputTokens: 12_069, cachedTokens: 11_502, outputTokens: 147, totalTokens: 12_216 };
  assert.is(figure('acp:gemini', { ...gemini, contextWindow: 1_000_000 }), 12_216);
  assert.is(figure('pi', { inputTokens: 100, cachedTokens: 900, outputTokens: 10 }), 1_010);
  assert.is(figure('hermes', { totalTokens: 4_000 }), 4_000);
  assert.is(figure('codex', { contextTokens: 500, inputTokens: 9_000, outputTokens: 9 }), 500);
});

test('cached tokens: the declared property of each provider', () => {
  for (const provider of [
    'codex',
    'grok',
    'ollama',
    'openrouter',
    'crewcoder',
    'hermes',
    'acp:x',
    'plugin:x',
  ]) {
    assert.is(inputIncludesCached(provider), true, provider);
  }
  for (const provider of ['claude', 'opencode', 'pi'])
    assert.is(inputIncludesCached(provider), false, provider);
});

test('implausible: a sum above the window is no occupancy, and the meter says so', () => {
  const summed = { inputTokens: 120, cachedTokens: 10_000_000, outputTokens: 16, contextWindow: 128_000 };
  const fresh = after('opencode', [summed]);
  assert.is(fresh.contextTokens, undefined);
  assert.is(fresh.implausibleTokens, 10_000_136);
  const held = after('opencode', [{ contextTokens: 30_000, contextWindow: 128_000 }, summed]);
  assert.is(held.contextTokens, 30_000);
  assert.is(held.implausibleTokens, 10_000_136);
  const next = after('opencode', [{ contextTokens: 31_000 }], held);
  assert.is(next.contextTokens, 31_000);
  assert.is(next.implausibleTokens, undefined);
});

test('sanitizing: what is no count of tokens says nothing', () => {
  const before = after('codex', [{ contextTokens: 5_000.9, contextWindow: 10_000.5 }]);
  assert.equal([before.contextTokens, before.contextWindow], [5_000, 10_000]);
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1e300]) {
    const usage = {
      contextTokens: bad,
      contextWindow: bad,
      inputTokens: bad,
      outputTokens: bad,
      totalTokens: bad,
    };
    const meter = after('codex', [usage], before);
    assert.equal([meter.contextTokens, meter.contextWindow], [5_000, 10_000], String(bad));
    assert.is(after('codex', [usage]).contextTokens, undefined);
  }
});

test('snapshot: it is kept as it came, and the cap applies from the next report', () => {
  const odd = { contextTokens: 147_554.5, contextWindow: 128_000, model: 'm' };
  assert.equal(snapshotOf(initialMeter(odd)), odd);
  const meter = after('pi', [{ contextTokens: 10 }], initialMeter(odd));
  assert.equal(snapshotOf(meter), { contextTokens: 128_000, contextWindow: 128_000, model: 'm' });
  assert.is(after('pi', [{ contextTokens: 10 }], initialMeter({ contextTokens: -5 })).contextTokens, 10);
});

test.run();
