import type { Validator } from 'typebox/compile';
import { describeProblem } from './check-parameters.ts';
import { assert, EventError } from './errors.ts';
import { type ReportedEvent, reportedEventSchemas } from './live-events.ts';
import { validatorsOf } from './validators.ts';

const knownValidator = validatorsOf((type: string) => {
  const schema = reportedEventSchemas.get(type);
  assert(schema !== undefined, `${type} is the type of a report`);
  return schema;
});

/**
 * Checks what a host reports, all of it before anything is decided.
 * @throws EventError `invalid_argument`, naming the place and the field
 */
export function checkReports(bridgeId: string, events: readonly unknown[]): ReportedEvent[] {
  return events.map((event, index) => {
    const report = checkReport(event, `events[${index}]`);
    if (report.bridgeId !== undefined && report.bridgeId !== bridgeId) {
      refuse(`events[${index}].bridgeId`, 'names another bridge than the call');
    }
    if ((report.type === 'closed' || report.type === 'idle_stopped') && index < events.length - 1) {
      refuse(`events[${index + 1}]`, `comes after ${report.type}, which nothing can follow`);
    }
    return report;
  });
}

function checkReport(event: unknown, place: string): ReportedEvent {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) refuse(place, 'must be an object');
  const type = (event as { type?: unknown }).type;
  const validator = typeof type === 'string' ? validatorOf(type) : undefined;
  if (validator === undefined) {
    refuse(`${place}.type`, `must be one of ${[...reportedEventSchemas.keys()].join(', ')}`);
  }
  if (!validator.Check(event)) {
    const { field, message } = describeProblem(validator.Errors(event), place);
    refuse(field, message);
  }
  return event as ReportedEvent;
}

function validatorOf(type: string): Validator | undefined {
  return reportedEventSchemas.has(type) ? knownValidator(type) : undefined;
}

function refuse(field: string, problem: string): never {
  throw new EventError('invalid_argument', `${field} ${problem}`, { field });
}
