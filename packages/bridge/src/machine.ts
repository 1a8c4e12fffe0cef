import { assert } from '@turnlog/events';
import { assign, type SnapshotFrom, setup, transition } from 'xstate';
import { evolve } from './evolve.ts';
import type { Fact } from './facts.ts';
import { type BridgeState, phaseOf } from './state.ts';

/** Another number means: a stored state is folded again from `bridge_requested`. */
export const BRIDGE_MACHINE_VERSION = 1;

const machineSetup = setup({
  types: { context: {} as BridgeState, events: {} as Fact, input: {} as BridgeState },
  actions: { evolve: assign(({ context, event }) => evolve(context, event)) },
  guards: {
    endsOpenTurn: ({ context, event }) =>
      (event.type === 'turn_ended' || event.type === 'turn_interrupted') &&
      event.data.turnId === context.turn?.turnId,
    endsOpenTurnDuringCompaction: ({ context, event }) =>
      (event.type === 'turn_ended' || event.type === 'turn_interrupted') &&
      event.data.turnId === context.turn?.turnId &&
      context.compacting,
  },
});

const keep = { actions: 'evolve' } as const;

const endOfTurn = [
  { guard: 'endsOpenTurnDuringCompaction', target: 'compacting', actions: 'evolve' },
  { guard: 'endsOpenTurn', target: 'idle', actions: 'evolve' },
] as const;

/**
 * The life of one bridge. Its events are the facts of the log, its context is folded from them: what is
 * not a transition here cannot have happened, and the code that decides asks before it appends.
 * Reports that come late (of a turn that has ended, or was interrupted) are facts too and change no state.
 */
export const bridgeMachine = machineSetup.createMachine({
  id: 'bridge',
  context: ({ input }) => input,
  initial: 'open',
  states: {
    open: {
      initial: 'starting',
      states: {
        starting: { on: { bridge_started: { target: 'idle', actions: 'evolve' } } },
        idle: {
          on: {
            turn_started: { target: 'turn', actions: 'evolve' },
            compaction_started: { target: 'compacting', actions: 'evolve' },
          },
        },
        turn: {
          on: { turn_ended: endOfTurn, turn_interrupted: endOfTurn, compaction_started: keep },
        },
        compacting: {
          on: {
            turn_started: { target: 'turn', actions: 'evolve' },
            compaction_completed: { target: 'idle', actions: 'evolve' },
            compaction_failed: { target: 'idle', actions: 'evolve' },
            compaction_started: keep,
          },
        },
      },
      on: {
        bridge_stopped: { target: 'stopped', actions: 'evolve' },
        session_bound: keep,
        prompt_queued: keep,
        prompt_dropped: keep,
        turn_output: keep,
        tool_started: keep,
        tool_ended: keep,
        request_opened: keep,
        request_answered: keep,
        turn_ended: keep,
        turn_interrupted: keep,
        usage_updated: keep,
        compaction_requested: keep,
        compaction_completed: keep,
        compaction_failed: keep,
        compaction_detected: keep,
        reports_accepted: keep,
        abort_requested: keep,
        stop_requested: keep,
      },
    },
    stopped: { on: { bridge_requested: { target: 'open', actions: 'evolve' } } },
  },
});

export type BridgeSnapshot = SnapshotFrom<typeof bridgeMachine>;

/** The machine of a bridge whose state was folded from the log. */
export function restoreBridge(state: BridgeState): BridgeSnapshot {
  const phase = phaseOf(state);
  return bridgeMachine.resolveState({
    value: phase === 'stopped' ? 'stopped' : { open: phase },
    context: state,
  });
}

/** The machine of a bridge that is asked for: new, or one that stopped and whose id is used again. */
export function requestBridge(
  former: BridgeState | undefined,
  fact: Fact<'bridge_requested'>,
): BridgeSnapshot {
  return restoreBridge(evolve(former, fact));
}

/** Whether the fact may happen now. */
export function canHappen(snapshot: BridgeSnapshot, fact: Fact): boolean {
  return snapshot.can(fact);
}

/** The machine after a fact. A fact that is no transition is a fault of the code that decided on it. */
export function advance(snapshot: BridgeSnapshot, fact: Fact): BridgeSnapshot {
  assert(snapshot.can(fact), `${fact.type} may happen while the bridge is ${phaseOf(snapshot.context)}`);
  const [next] = transition(bridgeMachine, snapshot, fact);
  return next;
}
