import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CONTINUE_TEXT } from './collapse.ts';
import { ConversationBench, KEY } from './conversation-bench.ts';
import { listConversations } from './reads.ts';
import { shardFileOf } from './render.ts';

interface ModelTurn {
  bridge: string;
  turn: string;
  prompt: string | undefined;
  answer: string;
  gathered: string;
  state: 'open' | 'interrupted' | 'ended';
}

/** The conversation as an array of turns behind a summary, without any thought of what it costs. */
class Model {
  exists = false;
  cleared = false;
  summary: string | undefined;
  turns: ModelTurn[] = [];
  /** The bridges that ever began a turn. */
  present = new Set<string>();
  stale = new Set<string>();

  find(bridge: string, turn: string): ModelTurn | undefined {
    return this.turns.findLast((known) => known.bridge === bridge && known.turn === turn);
  }

  start(bridge: string, turn: string, prompt: string | undefined): void {
    this.exists = true;
    this.cleared = false;
    this.stale.delete(bridge);
    this.present.add(bridge);
    this.turns.push({ bridge, turn, prompt, answer: '', gathered: '', state: 'open' });
  }

  settle(bridge: string, turn: string, text: string, whole: boolean, state: 'interrupted' | 'ended'): void {
    const found = this.find(bridge, turn);
    if (found === undefined || found.state === 'ended') return;
    found.answer = whole ? text : found.answer + found.gathered + text;
    found.gathered = '';
    found.state = state;
  }

  clear(): void {
    this.exists = false;
    this.cleared = true;
    this.summary = undefined;
    for (const bridge of this.present) this.stale.add(bridge);
    this.turns = [];
  }

  compact(bridge: string, summary: string, keptFrom: string | undefined): void {
    if (!this.exists || this.stale.has(bridge)) return;
    const own = keptFrom === undefined ? undefined : this.find(bridge, keptFrom);
    const kept = own ?? this.turns.findLast((turn) => turn.turn === keptFrom);
    const place = kept === undefined ? this.turns.length : this.turns.indexOf(kept);
    const open = this.turns.slice(0, place).filter((turn) => turn.state === 'open');
    for (const turn of open) turn.prompt = undefined;
    this.turns = [...open, ...this.turns.slice(place)];
    this.summary = summary;
  }

  shown(): string[] | undefined {
    if (!this.exists) return this.cleared ? [] : undefined;
    const rows = this.summary === undefined ? [] : [`>${CONTINUE_TEXT}`, `<${this.summary}`];
    for (const { prompt, answer } of this.turns) {
      if (prompt !== undefined) rows.push(`>${prompt}`);
      if (answer !== '') rows.push(`<${answer}`);
    }
    return rows;
  }
}

/**
 * What goes in the same way into the model and into the projection. A turnId is used again only after a
 * clear, as ids are unique within a bridge; `late` picks among the turns that were ever begun.
 */
type Step =
  | { kind: 'start'; bridge: string; prompt: string | undefined }
  | { kind: 'output' | 'interrupt'; late: number; text: string }
  | { kind: 'end'; late: number; text: string; whole: boolean }
  | { kind: 'clear' }
  | { kind: 'compact'; bridge: string; summary: string; late: number | undefined };

const anyText = fc.string({ maxLength: 4 });
const anyBridge = fc.constantFrom('x', 'y');
const late = fc.nat(6);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('start' as const),
      bridge: anyBridge,
      prompt: fc.option(anyText, { nil: undefined }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('output' as const), late, text: anyText }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('end' as const), late, text: anyText, whole: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('interrupt' as const), late, text: anyText }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('compact' as const),
      bridge: anyBridge,
      summary: fc.string({ minLength: 1, maxLength: 4 }),
      late: fc.option(late, { nil: undefined }),
    }),
  },
);

/** Two bridges number their turns alike, so that one turnId is of two turns. */
class Pair {
  readonly model = new Model();
  readonly bench = new ConversationBench();
  readonly #begun: { bridge: string; turn: string }[] = [];
  readonly #counts = { x: 0, y: 0 } as Record<string, number>;

  async take(step: Step): Promise<void> {
    const { model, bench } = this;
    if (step.kind === 'start') {
      const count = (this.#counts[step.bridge] ?? 0) + 1;
      this.#counts[step.bridge] = count;
      const turn = `t${count}`;
      this.#begun.unshift({ bridge: step.bridge, turn });
      model.start(step.bridge, turn, step.prompt);
      await bench.start(`${step.bridge}/${turn}`, step.prompt);
      return;
    }
    if (step.kind === 'clear') {
      model.clear();
      await bench.clear();
      return;
    }
    const named = step.late === undefined ? undefined : this.#begun[step.late];
    if (step.kind === 'compact') {
      model.compact(step.bridge, step.summary, named?.turn);
      await bench.compact(step.summary, named?.turn, step.bridge);
      return;
    }
    if (named === undefined) return;
    const id = `${named.bridge}/${named.turn}`;
    if (step.kind === 'output') {
      const found = model.find(named.bridge, named.turn);
      if (found !== undefined && found.state !== 'ended') found.gathered += step.text;
      await bench.output(id, step.text);
    } else if (step.kind === 'end') {
      model.settle(named.bridge, named.turn, step.text, step.whole, 'ended');
      await bench.end(id, { text: step.text, whole: step.whole });
    } else {
      model.settle(named.bridge, named.turn, step.text, false, 'interrupted');
      await bench.interrupt(id, { text: step.text });
    }
  }
}

test('property: the projection is what a plain array of turns would be, at every step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
      const pair = new Pair();
      for (const step of steps) {
        await pair.take(step);
        assert.equal(await pair.bench.shown(), pair.model.shown());
      }
    }),
    { numRuns: 300 },
  );
});

test('property: counts and files agree with the messages, and a rebuild gives the same tables', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
      const pair = new Pair();
      for (const step of steps) await pair.take(step);
      const { bench } = pair;
      const shown = await bench.shown();
      const { conversations } = await listConversations(bench.tables);
      assert.equal(
        conversations.map(({ messages }) => messages),
        pair.model.exists ? [shown?.length] : [],
      );
      const file = (await bench.files())[shardFileOf(KEY)];
      const stored = file === undefined ? undefined : JSON.parse(file).conversations[KEY];
      assert.is(stored?.length, pair.model.exists ? shown?.length : undefined);
      assert.equal((await bench.rebuilt()).dump(), bench.tables.dump());
    }),
    { numRuns: 100 },
  );
});

test.run();
