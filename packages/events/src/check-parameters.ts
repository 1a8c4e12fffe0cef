import type { Validator } from 'typebox/compile';
import { EventError } from './errors.ts';
import { KEY_BYTES_MAX } from './keys.ts';
import {
  type OperationName,
  type OperationParameters,
  operations,
  type SubscriptionName,
  type SubscriptionParameters,
  subscriptions,
} from './operations/index.ts';
import { validatorsOf } from './validators.ts';

/** A name that a caller made up is repeated to them only so far. */
const NAME_LENGTH_MAX = 100;

const operationValidator = validatorsOf((name: OperationName) => operations[name].parameters);
const subscriptionValidator = validatorsOf((name: SubscriptionName) => subscriptions[name].parameters);

/**
 * Checks what a caller sent for an operation: every field known, of its type and within its limits.
 * @throws EventError `invalid_argument`, naming the field
 */
export function checkParameters<Name extends OperationName>(
  name: Name,
  parameters: unknown,
): asserts parameters is OperationParameters<Name> {
  assertValid(operationValidator(name), name, parameters);
}

/**
 * Checks what a caller sent to follow something.
 * @throws EventError `invalid_argument`, naming the field
 */
export function checkSubscription<Name extends SubscriptionName>(
  name: Name,
  parameters: unknown,
): asserts parameters is SubscriptionParameters<Name> {
  assertValid(subscriptionValidator(name), name, parameters);
}

function assertValid(validator: Validator, name: string, parameters: unknown): void {
  if (validator.Check(parameters)) return;
  const { field, message } = describeProblem(validator.Errors(parameters), 'parameters');
  throw new EventError('invalid_argument', `${field} ${message}`, { operation: name, field });
}

/** One of a schema's complaints, the most useful: a field too many before what follows from it. */
export function describeProblem(
  problems: readonly { keyword: string; instancePath: string; message: string; params: object }[],
  root: string,
): { field: string; message: string } {
  const unknown = problems.find((problem) => problem.keyword === 'additionalProperties');
  const problem = unknown ?? problems[0];
  if (problem === undefined) return { field: root, message: 'is wrong' };
  const {
    additionalProperties = [],
    requiredProperties = [],
    allowedValues,
  } = problem.params as {
    additionalProperties?: string[];
    requiredProperties?: string[];
    allowedValues?: unknown[];
  };
  const at = [root, ...problem.instancePath.split('/').slice(1)].join('.');
  if (unknown !== undefined)
    return {
      field: `${at}.${additionalProperties[0]?.slice(0, NAME_LENGTH_MAX)}`,
      message: 'is not a known field',
    };
  if (problem.keyword === 'required')
    return { field: `${at}.${requiredProperties[0]}`, message: 'is missing' };
  if (allowedValues !== undefined)
    return { field: at, message: `must be one of ${allowedValues.join(', ')}` };
  if (problem.keyword === 'format') {
    return { field: at, message: `must be well-formed Unicode of 1 to ${KEY_BYTES_MAX} bytes` };
  }
  return { field: at, message: problem.message };
}
