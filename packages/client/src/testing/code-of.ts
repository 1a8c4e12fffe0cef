import { TurnlogError } from '@turnlog/events';

/** The code of the error that a task throws; undefined where it throws none. */
export function codeOf(task: () => unknown): string | undefined {
  try {
    task();
    return undefined;
  } catch (error) {
    return codeOfError(error);
  }
}

/** The code of the error that a promise is rejected with; undefined where it is not. */
export async function codeOfRejection(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return codeOfError(error);
  }
}

function codeOfError(error: unknown): string {
  return error instanceof TurnlogError ? error.code : String(error);
}
