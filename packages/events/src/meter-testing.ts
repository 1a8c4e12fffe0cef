import type { EventData } from './catalogue/index.ts';
import { compactMeter, type MeterReading, reportUsage } from './meter.ts';
import { initialMeter, type MeterState } from './meter-state.ts';
import type { UsageReport } from './schema.ts';

/* What the tests of the meter share. */

export type Report = UsageReport & { turnId?: string };

export function reading(meter: MeterState, provider: string, { turnId, ...usage }: Report): MeterReading {
  return reportUsage(meter, { provider, usage, ...(turnId !== undefined && { turnId }) });
}

export function after(provider: string, reports: Report[], meter = initialMeter()): MeterState {
  return reports.reduce((state, report) => reading(state, provider, report).meter, meter);
}

const bridge = { bridgeId: 'b', provider: 'codex', automatic: true } as const;

export function completed(
  meter: MeterState,
  data: Partial<EventData<'compaction_completed'>> = {},
): MeterState {
  return compactMeter(meter, {
    type: 'compaction_completed',
    data: { ...bridge, source: 'native', ...data },
  });
}

export function detected(
  meter: MeterState,
  data: Partial<EventData<'compaction_detected'>> = {},
): MeterState {
  return compactMeter(meter, {
    type: 'compaction_detected',
    data: { ...bridge, source: 'inferred', ...data },
  });
}
