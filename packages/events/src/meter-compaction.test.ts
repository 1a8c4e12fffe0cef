import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { snapshotOf } from './meter-state.ts';
import { after, completed, detected, reading } from './meter-testing.ts';

test('boundary: the figure is unknown until the next report, which counts as it is', () => {
  let meter = after('claude', [{ contextTokens: 100_000, contextWindow: 200_000 }]);
  meter = completed(meter, { beforeTokens: 100_000 });
  assert.is(meter.contextTokens, undefined);
  assert.is(snapshotOf(meter), undefined);
  assert.is(meter.contextWindow, 200_000);
  const read = reading(meter, 'claude', { contextTokens: 12_000, outputTokens: 300 });
  assert.is(read.meter.contextTokens, 12_000);
  assert.is(read.detected, undefined);
});

test('boundary: it survives being written and read', () => {
  const meter = completed(after('codex', [{ contextTokens: 100_000, contextWindow: 200_000 }]));
  assert.equal(JSON.parse(JSON.stringify(meter)), meter);
});

test('boundary: a compaction that frees little leaves the figure', () => {
  const before = after('claude', [{ contextTokens: 170_000, contextWindow: 200_000 }]);
  const micro = completed(before, { beforeTokens: 170_000, afterTokens: 167_000 });
  assert.is(micro.contextTokens, 170_000);
  assert.is(completed(before, { afterTokens: 167_000 }).contextTokens, 170_000);
  assert.is(completed(before, { resetContext: false }).contextTokens, 170_000);
  assert.is(after('claude', [{ contextTokens: 167_500, outputTokens: 10 }], micro).contextTokens, 170_010);
});

test('boundary: resetContext, a summary and a large drop each clear the figure', () => {
  const before = after('ollama', [{ contextTokens: 7_000, contextWindow: 8_192 }]);
  for (const data of [
    { resetContext: true, beforeTokens: 7_000, afterTokens: 6_900 },
    { source: 'requested', strategy: 'local-summary', summary: 'S' } as const,
    { beforeTokens: 7_000, afterTokens: 900 },
    { beforeTokens: 0, afterTokens: 0 },
  ]) {
    assert.is(completed(before, data).contextTokens, undefined, JSON.stringify(data));
  }
});

const nearlyFull = { turnId: 't1', contextTokens: 170_000, contextWindow: 200_000 };

test('inference: an under-report that comes again is one again, also where output has filled the window meanwhile', () => {
  const resumed = after('codex', [{ turnId: 't0', contextTokens: 150_000, contextWindow: 200_000 }]);
  const held = after('codex', [{ turnId: 't1', contextTokens: 2_000, outputTokens: 20_000 }], resumed);
  assert.is(held.contextTokens, 170_000);
  const again = reading(held, 'codex', { turnId: 't2', contextTokens: 2_100, outputTokens: 10 });
  assert.is(again.detected, undefined);
  assert.is(again.meter.contextTokens, 170_010);
});

test('inference: a steep drop from a nearly full window is a compaction of four providers', () => {
  for (const provider of ['codex', 'crewcoder', 'opencode', 'grok']) {
    const read = reading(after(provider, [nearlyFull]), provider, { turnId: 't2', contextTokens: 40_000 });
    assert.equal(read.detected, { beforeTokens: 170_000, afterTokens: 40_000 });
    assert.is(read.meter.contextTokens, 40_000);
  }
  for (const provider of ['claude', 'pi', 'hermes', 'ollama', 'openrouter', 'plugin:x', 'acp:codex']) {
    const read = reading(after(provider, [nearlyFull]), provider, { turnId: 't2', contextTokens: 40_000 });
    assert.is(read.detected, undefined);
    assert.is(read.meter.contextTokens, 170_000);
  }
});

test('inference: not from a window that is less than four fifths full, nor of a lesser drop', () => {
  const roomy = after('codex', [{ contextTokens: 159_999, contextWindow: 200_000 }]);
  assert.is(reading(roomy, 'codex', { contextTokens: 10_000 }).detected, undefined);
  const full = after('codex', [{ contextTokens: 160_000, contextWindow: 200_000 }]);
  assert.is(reading(full, 'codex', { contextTokens: 96_000 }).detected, undefined);
  assert.ok(reading(full, 'codex', { contextTokens: 95_999 }).detected);
  const unknownWindow = after('codex', [{ contextTokens: 190_000 }]);
  assert.is(reading(unknownWindow, 'codex', { contextTokens: 10_000 }).detected, undefined);
});

test('inference: one compaction is one card, whatever comes of it later', () => {
  const first = reading(after('codex', [nearlyFull]), 'codex', { turnId: 't2', contextTokens: 40_000 });
  assert.ok(first.detected);
  const logged = detected(first.meter, { turnId: 't2', ...first.detected });
  assert.is(logged.contextTokens, 40_000);
  const repeated = reading(logged, 'codex', { turnId: 't2', contextTokens: 40_000, outputTokens: 5 });
  assert.is(repeated.detected, undefined);
  assert.is(repeated.meter.contextTokens, 40_000);
});

test('inference: a detection that came from elsewhere is not repeated by the report that shows it', () => {
  const told = detected(after('codex', [nearlyFull]), { turnId: 't2', source: 'native' });
  assert.is(told.contextTokens, 170_000);
  const read = reading(told, 'codex', { turnId: 't2', contextTokens: 40_000 });
  assert.is(read.detected, undefined);
  assert.is(read.meter.contextTokens, 40_000);
});

test('inference: a native boundary wins, also where an older report comes after it', () => {
  const told = completed(after('codex', [nearlyFull]), { turnId: 't2' });
  const stale = reading(told, 'codex', { turnId: 't2', contextTokens: 170_000 });
  const read = reading(stale.meter, 'codex', { turnId: 't2', contextTokens: 40_000 });
  assert.is(read.detected, undefined);
  assert.is(read.meter.contextTokens, 40_000);
  const grown = after('codex', [{ turnId: 't2', contextTokens: 190_000 }], read.meter);
  assert.is(reading(grown, 'codex', { turnId: 't2', contextTokens: 60_000 }).detected, undefined);
  assert.ok(reading(grown, 'codex', { turnId: 't3', contextTokens: 60_000 }).detected);
});

test('inference: a drop that only undoes the rise before it is a bad sample', () => {
  const risen = after('opencode', [
    { turnId: 't1', contextTokens: 50_000, contextWindow: 200_000 },
    { turnId: 't2', contextTokens: 190_000 },
    { turnId: 't2', contextTokens: 190_000 },
  ]);
  for (const contextTokens of [45_000, 52_000, 55_000]) {
    const read = reading(risen, 'opencode', { turnId: 't3', contextTokens });
    assert.is(read.detected, undefined);
    assert.is(read.meter.contextTokens, 190_000);
  }
  assert.ok(reading(risen, 'opencode', { turnId: 't3', contextTokens: 44_999 }).detected);
  assert.ok(reading(risen, 'opencode', { turnId: 't3', contextTokens: 55_001 }).detected);
  const settling = after('opencode', [{ turnId: 't3', contextTokens: 54_000 }], risen);
  assert.is(reading(settling, 'opencode', { turnId: 't4', contextTokens: 57_000 }).detected, undefined);
});

test.run();
