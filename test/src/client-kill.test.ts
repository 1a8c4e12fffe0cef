import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@turnlog/client';
import type { Envelope } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectory } from './support/daemon-process.ts';

const ROUNDS = 5;
const BRIDGES = 4;
/** A kill comes at any moment after the hosts have got on, however slow the machine is. */
const KILL_AFTER_MS_MAX = 100;

test('kills: each reported turn is in the log exactly once and in order, though its host never resends', async () => {
  await withDirectory(async (directory, start) => {
    let daemon = await start();
    const client = await connect({ dataDirectory: `${directory}/data` });
    const stopped = new AbortController();
    const followed: Envelope[] = [];
    const following = (async () => {
      for await (const event of client.subscribe({ signal: stopped.signal })) followed.push(event);
    })();
    let isOver = false;
    let durableTurns = 0;
    const progress = async () => {
      const before = durableTurns;
      while (durableTurns < before + BRIDGES) await delay(5);
    };
    const bridges = await Promise.all(
      Array.from({ length: BRIDGES }, (_, host) =>
        client.recordBridge({
          bridgeId: `bridge-${host}`,
          provider: 'codex',
          conversationKey: `thread:${host}`,
        }),
      ),
    );
    const hosts = bridges.map(async (bridge) => {
      let turns = 0;
      for (; !isOver; turns += 1) {
        const turnId = `turn-${turns}`;
        await bridge.prompt(`question ${turns}`, { turnId });
        await bridge.report({ type: 'turn_start', turnId });
        for (const delta of ['answer ', String(turns)]) {
          await bridge.report({ type: 'text_delta', turnId, delta });
        }
        await bridge.report({ type: 'turn_end', turnId });
        if (turns % 3 === 0) {
          await bridge.durable();
          durableTurns += 1;
        } else await delay(1);
      }
      await bridge.close();
      return turns;
    });
    const killing = (async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await progress();
        await delay(KILL_AFTER_MS_MAX * Math.random());
        await daemon.kill('SIGKILL');
        daemon = await start();
      }
      await progress();
      isOver = true;
    })();
    const [turns] = await Promise.all([Promise.all(hosts), killing, Promise.race([following, killing])]);

    const { seq } = await client.daemon.status();
    while (followed.length < seq) await delay(10);
    stopped.abort();
    await following;
    assert.equal(
      followed.map((event) => event.seq),
      Array.from({ length: seq }, (_, index) => index + 1),
    );
    const total = turns.reduce((sum, count) => sum + count, 0);
    assert.ok(total > ROUNDS * BRIDGES, `${total} turns`);
    for (const [host, count] of turns.entries()) {
      const ended = followed
        .map(({ type, data }) => ({ type, ...(data as { bridgeId?: string; turnId?: string }) }))
        .filter(({ type, bridgeId }) => type === 'turn_ended' && bridgeId === `bridge-${host}`);
      assert.equal(
        ended.map(({ turnId }) => turnId),
        Array.from({ length: count }, (_, turn) => `turn-${turn}`),
      );
      const { messages } = await client.conversation.load({ conversationKey: `thread:${host}` });
      const expected = Array.from({ length: count }, (_, turn) => [
        { role: 'user', content: `question ${turn}` },
        { role: 'assistant', content: `answer ${turn}` },
      ]);
      assert.equal(messages, expected.flat());
    }
    assert.equal((await client.bridge.list()).bridges, []);
    client.close();
  });
});

test.run();
