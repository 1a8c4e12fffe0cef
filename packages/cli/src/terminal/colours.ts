import picocolors from 'picocolors';

export type Colours = ReturnType<typeof picocolors.createColors>;

/** Where output goes; `process.stdout` is one. */
export interface Output {
  isTTY?: boolean;
}

/** Colours for a terminal; functions that change nothing for a file or a pipe, or where `NO_COLOR` is set. */
export function coloursFor(output: Output, env: Readonly<Record<string, string | undefined>>): Colours {
  return picocolors.createColors(output.isTTY === true && (env.NO_COLOR ?? '') === '');
}
