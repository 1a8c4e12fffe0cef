export * from './catalogue/index.ts';
export * from './check-parameters.ts';
export * from './check-reports.ts';
export * from './codec.ts';
export * from './envelope.ts';
export * from './errors.ts';
export * from './json-text.ts';
export * from './keys.ts';
export * from './live-events.ts';
export * from './meter.ts';
export { inputIncludesCached } from './meter-sample.ts';
export {
  initialMeter,
  METER_MODELS_MAX,
  METER_TURNS_MAX,
  type MeterState,
  snapshotOf,
  startTurn,
  type TurnTally,
} from './meter-state.ts';
export * from './operations/index.ts';
export * from './process-identity.ts';
export * from './schema.ts';
export { type Upcaster, type UpcasterRegistry, upcast, upcastWith, versionOf } from './upcast.ts';
