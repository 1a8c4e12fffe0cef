import type Type from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

/** Compiles the schema of a name when it is first asked for, and keeps it. */
export function validatorsOf<Name extends string>(
  schemaOf: (name: Name) => Type.TSchema,
): (name: Name) => Validator {
  const validators = new Map<Name, Validator>();
  return (name) => {
    let validator = validators.get(name);
    if (validator === undefined) {
      validator = Compile(schemaOf(name));
      validators.set(name, validator);
    }
    return validator;
  };
}
