import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@turnlog/client';
import type { Envelope } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectory } from './support/daemon-process.ts';

const ROUNDS = Number(process.env.TURNLOG_KILL_ROUNDS ?? 50);
const CLIENTS = 8;
/** Each kill comes at any moment after the hosts have got on, however slow the machine is. */
const TURNS_PER_ROUND_MIN = CLIENTS;
const KILL_AFTER_MS_MAX = 150;

/** One host: it records turns one after the other, and sends again what it got no answer to. */
class Host {
  readonly bridgeId: string;
  readonly conversationKey: string;
  /** The turns that were acknowledged, by number. */
  acknowledged = 0;
  /** The number of the event after the last that was acknowledged. */
  #first = 1;
  #turn = 1;

  constructor(readonly name: string) {
    this.bridgeId = `bridge-${name}`;
    this.conversationKey = `thread:${name}`;
  }

  /** Records until the daemon is gone. */
  async work(client: Client, signal: AbortSignal): Promise<void> {
    const { bridgeId, conversationKey } = this;
    try {
      await client.call('bridge.record', { bridgeId, conversationKey, provider: 'codex' });
      while (!signal.aborted) {
        const turnId = `turn-${this.#turn}`;
        const events = [
          { type: 'prompt', turnId, text: `question ${this.#turn} of ${this.name}` },
          { type: 'turn_start', turnId },
          { type: 'text_delta', turnId, delta: `answer ${this.#turn} ` },
          { type: 'text_delta', turnId, delta: `of ${this.name}` },
          { type: 'turn_end', turnId, usage: { contextTokens: 1_000 + this.#turn, contextWindow: 100_000 } },
        ];
        const { accepted } = await client.call('bridge.event', { bridgeId, first: this.#first, events });
        assert.is(accepted, this.#first + events.length - 1);
        this.acknowledged = this.#turn;
        this.#first += events.length;
        this.#turn += 1;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

test('kill: what was acknowledged under load is there once, after every one of the kills', async () => {
  await withDirectory(async (_directory, start) => {
    const hosts = Array.from({ length: CLIENTS }, (_, index) => new Host(`host ${index} "é"`));
    for (let round = 0; round < ROUNDS; round += 1) {
      const daemon = await start();
      const gone = new AbortController();
      const work = hosts.map((host) => host.work(daemon.client, gone.signal));
      const before = acknowledgedBy(hosts);
      while (acknowledgedBy(hosts) < before + TURNS_PER_ROUND_MIN)
        await Promise.race([delay(2), Promise.all(work)]);
      await Promise.race([delay(KILL_AFTER_MS_MAX * Math.random()), Promise.all(work)]);
      gone.abort();
      await daemon.kill('SIGKILL');
      await Promise.all(work);
    }
    const daemon = await start();
    const events = await readWholeLog(daemon.client);
    events.forEach((event, index) => {
      assert.is(event.seq, index + 1, 'the log has no gap');
    });
    for (const host of hosts) {
      const ends = events.filter(
        (event) =>
          event.type === 'turn_ended' && (event.data as { bridgeId: string }).bridgeId === host.bridgeId,
      );
      const turnIds = ends.map((event) => (event.data as { turnId: string }).turnId);
      assert.equal(turnIds, [...new Set(turnIds)], 'no turn is there twice');
      assert.ok(turnIds.length >= host.acknowledged, `${turnIds.length} of ${host.acknowledged} turns`);
      const { messages } = await daemon.client.call('conversation.load', {
        conversationKey: host.conversationKey,
      });
      const expected = turnIds.flatMap((_, index) => [
        { role: 'user', content: `question ${index + 1} of ${host.name}` },
        { role: 'assistant', content: `answer ${index + 1} of ${host.name}` },
      ]);
      assert.equal(messages, expected);
    }
    const { projections } = await daemon.client.call('projections.rebuild', { check: true });
    assert.ok(projections.length >= 4);
    for (const projection of projections) {
      assert.is(projection.equal, true, `${projection.name}: ${projection.differences?.join(', ')}`);
    }
  });
});

function acknowledgedBy(hosts: readonly Host[]): number {
  return hosts.reduce((sum, host) => sum + host.acknowledged, 0);
}

async function readWholeLog(client: Client): Promise<Envelope[]> {
  const events: Envelope[] = [];
  let from = 1;
  for (;;) {
    const page = await client.call('log.read', { from, limit: 1_000 });
    events.push(...(page.events as Envelope[]));
    if (page.next === from) return events;
    from = page.next;
  }
}

test.run();
