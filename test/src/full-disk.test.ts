/*
 * A disk that is full to the last byte, a real one: a file system of its own in memory. Nothing acknowledged is
 * lost, what cannot be kept is refused, reads go on, and work resumes by itself once there is room.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, open, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Envelope } from '@turnlog/events';
import { type Daemon, openDaemon, serve } from '@turnlog/turnlogd';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const DISK_MIB = 40;
const KEY = 'thread:full';

/** Mounts the disk; answers why it cannot be mounted. */
function mount(directory: string): string | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', directory], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return (error as Error).message.split('\n').slice(0, 2).join(' ');
  }
}

interface Disk {
  dataDirectory: string;
  /** Fills the disk until so many bytes are free. */
  fill(freeBytes: number): Promise<void>;
  /** Takes away what fills it. */
  makeRoom(): Promise<void>;
}

async function withDisk(task: (disk: Disk) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-full-disk-'));
  try {
    assert.is(mount(directory), undefined);
    const ballast = join(directory, 'ballast');
    try {
      await task({
        dataDirectory: join(directory, 'data'),
        async fill(freeBytes) {
          const file = await open(ballast, 'a');
          try {
            for (let size = 1024 * 1024; size >= 1; ) {
              const { bavail, bsize } = await statfs(directory);
              const left = bavail * bsize - freeBytes;
              if (left <= 0) return;
              size = Math.min(size, left);
              await file.write(Buffer.alloc(size));
            }
          } finally {
            await file.close();
          }
        },
        makeRoom: () => rm(ballast, { force: true }),
      });
    } finally {
      execFileSync('umount', ['-l', directory]);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let left = 600; left > 0; left -= 1) {
    if (await condition()) return;
    await delay(25);
  }
  throw new Error(`waited in vain until ${what}`);
}

/** Turns of one conversation, and which of them were acknowledged. */
class Recorder {
  readonly acknowledged: string[] = [];
  readonly refusals = new Map<string, number>();
  #turn = 0;

  constructor(readonly daemon: () => Daemon) {}

  async open(): Promise<void> {
    await this.daemon().dispatcher.call('bridge.record', {
      ...{ bridgeId: 'b', provider: 'codex', conversationKey: KEY },
    });
  }

  /** Reports a turn whole; answers whether it was taken. */
  async turn(bytes: number): Promise<boolean> {
    this.#turn += 1;
    const turnId = `t${this.#turn}`;
    const text = `${turnId} ${'x'.repeat(bytes)}`;
    try {
      await this.daemon().dispatcher.call('bridge.event', {
        bridgeId: 'b',
        events: [
          { type: 'turn_start', turnId },
          { type: 'turn_end', turnId, text },
        ],
      });
      this.acknowledged.push(turnId);
      return true;
    } catch (error) {
      const { code = String(error) } = error as { code?: string };
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
      return false;
    }
  }

  /** Every acknowledged turn is read, in its order. */
  async assertKept(): Promise<void> {
    const { messages } = await this.daemon().dispatcher.call('conversation.load', { conversationKey: KEY });
    const turns = messages.map(({ content }) => content.split(' ')[0] ?? '');
    const kept = turns.filter((turn) => this.acknowledged.includes(turn));
    assert.equal(kept, this.acknowledged);
    const { log } = this.daemon();
    let seq = 0;
    for await (const event of log.read()) {
      seq += 1;
      assert.is((event as Envelope).seq, seq);
    }
    assert.is(seq, log.head());
  }
}

const reason = await (async () => {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-full-disk-'));
  try {
    const problem = mount(directory);
    if (problem === undefined) execFileSync('umount', ['-l', directory]);
    return problem;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
})();

function onDisk(title: string, task: (disk: Disk) => Promise<void>): void {
  if (reason === undefined) test(title, () => withDisk(task));
  else test.skip(`${title} (no disk can be mounted here: ${reason})`);
}

onDisk(
  'full disk: filled while turns are recorded, at many places, nothing acknowledged is lost',
  async (disk) => {
    const notices: string[] = [];
    const daemon = await openDaemon({
      dataDirectory: disk.dataDirectory,
      onNotice: ({ message }) => notices.push(message),
    });
    try {
      const recorder = new Recorder(() => daemon);
      await recorder.open();
      for (const freeBytes of [0, 4_096, 20_000, 40_960, 100_000, 200_000, 300_000, 500_000]) {
        for (let count = 0; count < 5; count += 1) assert.ok(await recorder.turn(3_000));
        await disk.fill(freeBytes);
        let taken = 0;
        while (await recorder.turn(3_000)) taken += 1;
        assert.ok(taken < 200, `${taken} turns went into ${freeBytes} bytes`);
        // Refused for the whole time that the disk is full, reads go on, and the answer is always the same.
        for (let count = 0; count < 3; count += 1) {
          await recorder.assertKept();
          assert.not(await recorder.turn(10));
          assert.is(daemon.readiness(), 'read_only');
          await delay(150);
        }
        await disk.makeRoom();
        await until(() => daemon.readiness() === 'ready', 'it is ready again');
        await recorder.assertKept();
      }
      assert.equal([...recorder.refusals.keys()], ['storage_full']);
      assert.ok(await recorder.turn(10));
      await daemon.projections.flush();
      const { projections } = await daemon.dispatcher.call('projections.rebuild', { check: true });
      assert.ok(projections.every(({ equal }) => equal));
      await recorder.assertKept();
      assert.match(notices.join('\n'), 'the log was opened again and takes appends: the disk is full');
    } finally {
      await daemon.close();
    }
  },
);

onDisk('full disk: a file that cannot be rendered is rendered by itself once there is room', async (disk) => {
  const daemon = await openDaemon({ dataDirectory: disk.dataDirectory });
  try {
    const { call } = daemon.dispatcher;
    const rows = Array.from({ length: 300 }, (_, place) => ({ id: `r${place}`, text: 'x'.repeat(10_000) }));
    await call('transcripts.save', { scopeId: 's', messages: rows });
    await call('projections.flush', {});
    const { statuses } = { statuses: async () => (await call('projections.status', {})).projections };
    await disk.fill(1_000_000);
    await call('transcripts.save', { scopeId: 's', messages: [...rows, { id: 'last', text: 'the last' }] });
    const error = async () => (await statuses()).find(({ name }) => name === 'transcripts')?.error;
    await until(async () => (await error())?.code === 'storage_full', 'it is said that the disk is full');
    assert.is((await call('transcripts.load', { scopeId: 's' })).messages.length, 301);
    assert.is(daemon.readiness(), 'ready', 'what is small still goes in');
    await disk.makeRoom();
    await until(
      async () => (await statuses()).every((status) => status.waitingFiles === 0),
      'it is rendered',
    );
    assert.is(await error(), undefined);
    const names = (await daemon.projections.check()).map(({ name, equal }) => [name, equal]);
    assert.ok(
      names.every(([, equal]) => equal === true),
      JSON.stringify(names),
    );
  } finally {
    await daemon.close();
  }
});

onDisk(
  'full disk: a daemon that starts on it waits, says so, and is ready once there is room',
  async (disk) => {
    let daemon = await openDaemon({ dataDirectory: disk.dataDirectory });
    const recorder = new Recorder(() => daemon);
    await recorder.open();
    for (let count = 0; count < 50; count += 1) await recorder.turn(2_000);
    await daemon.close();
    await disk.fill(0);

    const running = await serve({ dataDirectory: disk.dataDirectory, port: 0, logLevel: 'silent' });
    try {
      daemon = running.daemon;
      const token = (await readFile(join(disk.dataDirectory, 'token'), 'utf8')).trim();
      const readyz = await fetch(`${running.url}/readyz`);
      assert.equal([readyz.status, await readyz.json()], [503, { status: 'waiting_for_room' }]);
      assert.is((await fetch(`${running.url}/healthz`)).status, 200);
      const ask = () =>
        fetch(`${running.url}/v1/conversation.load`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ conversationKey: KEY }),
        });
      const refused = await ask();
      const { error } = (await refused.json()) as { error: { code: string } };
      assert.equal([refused.status, error.code], [507, 'storage_full']);

      await disk.makeRoom();
      await until(async () => (await fetch(`${running.url}/readyz`)).status === 200, 'it is ready');
      assert.is((await ask()).status, 200);
      await recorder.assertKept();
      await recorder.open();
      assert.ok(await recorder.turn(10));
      const address = JSON.parse(await readFile(join(disk.dataDirectory, 'daemon.json'), 'utf8'));
      assert.equal(address.addresses, [running.url]);
    } finally {
      await running.stop();
    }
  },
);

test.run();
