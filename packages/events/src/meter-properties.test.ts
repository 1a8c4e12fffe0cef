import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { initialMeter } from './meter-state.ts';
import { after, type Report, reading } from './meter-testing.ts';

const anyProvider = fc.constantFrom('codex', 'claude', 'opencode', 'pi', 'ollama', 'acp:x');
const anyTokens = fc.option(fc.oneof(fc.nat(300_000), fc.constantFrom(0, -1, 1.5, Number.NaN, 1e12)), {
  nil: undefined,
});
const anyReport: fc.Arbitrary<Report> = fc
  .record({
    turnId: fc.constantFrom(undefined, 't1', 't2', 't3'),
    contextTokens: anyTokens,
    contextWindow: fc.constantFrom(undefined, 100_000, 200_000),
    inputTokens: anyTokens,
    cachedTokens: anyTokens,
    outputTokens: anyTokens,
    totalTokens: anyTokens,
    model: fc.constantFrom(undefined, 'one', 'two', '__proto__'),
  })
  .map((report) => Object.fromEntries(Object.entries(report).filter(([, value]) => value !== undefined)));

const window = { contextWindow: 200_000 };

test('property: a figure is above 0, whole and within its window, and stays known', () => {
  fc.assert(
    fc.property(anyProvider, fc.array(anyReport, { maxLength: 30 }), (provider, reports) => {
      let meter = initialMeter();
      for (const report of reports) {
        const before = meter.contextTokens;
        meter = reading(meter, provider, report).meter;
        const { contextTokens, contextWindow = Number.POSITIVE_INFINITY } = meter;
        if (before !== undefined) assert.ok(contextTokens !== undefined);
        if (contextTokens === undefined) continue;
        assert.ok(Number.isInteger(contextTokens) && contextTokens > 0 && contextTokens <= contextWindow);
      }
    }),
  );
});

test('property: with one window a figure falls only at a compaction', () => {
  fc.assert(
    fc.property(anyProvider, fc.array(anyReport, { maxLength: 30 }), (provider, reports) => {
      let meter = initialMeter();
      for (const report of reports) {
        const before = meter.contextTokens ?? 0;
        const read = reading(meter, provider, { ...report, ...window });
        meter = read.meter;
        const now = meter.contextTokens ?? 0;
        if (read.detected === undefined) assert.ok(now >= before);
        else assert.equal(read.detected, { beforeTokens: before, afterTokens: now });
      }
    }),
  );
});

test('property: a report that comes twice changes nothing and detects nothing', () => {
  fc.assert(
    fc.property(anyProvider, fc.array(anyReport, { minLength: 1, maxLength: 20 }), (provider, reports) => {
      const meter = after(provider, reports);
      const again = reading(meter, provider, reports.at(-1) as Report);
      assert.equal(again.meter, meter);
      assert.is(again.detected, undefined);
    }),
  );
});

test('property: a figure that nothing lowers grows by no more than the output of its turns', () => {
  const under = fc.record({ turnId: fc.constantFrom('t1', 't2', 't3'), outputTokens: fc.nat(1_000) });
  fc.assert(
    fc.property(fc.array(under, { maxLength: 30 }), (reports) => {
      const before = after('pi', [{ contextTokens: 90_000, ...window }]);
      const meter = after(
        'pi',
        reports.map((report) => ({ ...report, contextTokens: 5 })),
        before,
      );
      const most = new Map<string, number>();
      for (const { turnId, outputTokens } of reports) {
        most.set(turnId, Math.max(most.get(turnId) ?? 0, outputTokens));
      }
      assert.is(meter.contextTokens, 90_000 + [...most.values()].reduce((sum, output) => sum + output, 0));
    }),
  );
});

test.run();
