import fc from 'fast-check';
import type { CrashPoint, Losses } from './machine.ts';
import { type Step, steps } from './recorded-host.ts';
import type { Place } from './recorded-model.ts';

export const PLACES: readonly Place[] = [
  { bridgeId: 'codex-1', provider: 'codex', conversationKey: 'thread:s' },
  { bridgeId: 'claude-1', provider: 'claude', conversationKey: 'thread:s' },
  { bridgeId: 'codex-2', provider: 'codex', conversationKey: 'thread:s' },
  { bridgeId: 'claude-2', provider: 'claude', conversationKey: 'web:s' },
  { bridgeId: 'plugin', provider: 'plugin:a:b', conversationKey: 'thread:other' },
];

export const CONVERSATION_KEYS = ['thread:s', 'web:s', 'thread:other', 'thread:never recorded'] as const;

export type Sending = 'numbered' | 'again' | 'unnumbered' | 'gap';

export type Command =
  | { do: 'record'; host: number }
  | { do: 'report'; host: number; steps: Step[]; sending: Sending }
  | { do: 'report at once'; hosts: [number, number]; steps: [Step[], Step[]] }
  | { do: 'close'; host: number; isIdle: boolean }
  | { do: 'stop'; host: number }
  | { do: 'clear'; conversation: number }
  | { do: 'reset'; host: number; withConversation: boolean }
  | { do: 'alias'; from: number; to: number }
  | { do: 'pass'; durationMs: number }
  | { do: 'kill'; losses: Losses }
  | { do: 'restart' }
  | { do: 'crash at the next append'; point: CrashPoint; losses: Losses };

export function conversationKeyAt(index: number): string {
  return CONVERSATION_KEYS[index % CONVERSATION_KEYS.length] as string;
}

const host = fc.nat({ max: PLACES.length - 1 });
const said = fc.array(steps, { maxLength: 5 });
const losses = fc.record({ index: fc.boolean(), projections: fc.boolean() });

/** What hosts, users, time and crashes may do. */
export const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('record' as const), host }) },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      host,
      steps: said,
      sending: fc.constantFrom('numbered' as const, 'again' as const, 'unnumbered' as const, 'gap' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('report at once' as const),
      hosts: fc.tuple(host, host),
      steps: fc.tuple(said, said),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), host, isIdle: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), host }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('clear' as const), conversation: fc.nat({ max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('reset' as const), host, withConversation: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('alias' as const),
      from: fc.nat({ max: 3 }),
      to: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      durationMs: fc.constantFrom(100, 499, 500, 15_000, 30_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), losses }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('crash at the next append' as const),
      point: fc.constantFrom('before' as const, 'after' as const),
      losses,
    }),
  },
);
