import type { Command } from 'commander';
import type { Context } from './context.ts';

/** Under which title `turnlog help` lists a command. */
export const GROUPS = {
  daemon: 'The daemon:',
  read: 'To read:',
  change: 'To change:',
  care: 'To take care of the data:',
  other: 'And:',
} as const;

/** One command: how it is called and what it does. */
export interface CommandSpec<Options extends object = never> {
  name: string;
  /** Of a command below another there is none. */
  group?: keyof typeof GROUPS;
  description: string;
  /** Adds its arguments and options; `--data` and `--json` are there already. */
  configure?(command: Command): void;
  /**
   * @param arguments_ as many as `configure` has declared
   * @param command itself, within the tree of all commands
   * @returns the exit status
   */
  run(context: Context, options: Options, arguments_: readonly string[], command: Command): Promise<number>;
}

/** Commands under one name, such as `token create`. */
export interface CommandFamily {
  name: string;
  group: keyof typeof GROUPS;
  description: string;
  below: readonly CommandSpec[];
}

/** The argument that commander has seen to being there. */
export function argumentOf(arguments_: readonly string[], place: number): string {
  const found = arguments_[place];
  if (found === undefined) throw new Error(`argument ${place + 1} is declared`);
  return found;
}
