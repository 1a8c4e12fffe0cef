import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Caller, LOCAL_CALLER } from '../access/caller.ts';
import { DaemonError } from '../errors.ts';
import { SubscriberCount } from '../subscriber-count.ts';
import { ManualEnvironment, settle } from '../testing.ts';
import { RpcConnection } from './rpc-connection.ts';
import { type Channel, RPC_LIMITS, type RpcParts } from './rpc-parts.ts';

const LIMITS = { ...RPC_LIMITS, requestsInFlightMax: 2, subscriptionsMax: 2, unsentBytesMax: 200 };

interface Message {
  id?: unknown;
  method?: string;
  params?: { subscription: number; event?: unknown; error?: { code: string } };
  result?: unknown;
  error?: { code: number; data: { code: string } };
}

/** A peer on a line that a test holds in its hands. */
class Peer implements Channel {
  readonly environment = new ManualEnvironment();
  readonly subscribers = new SubscriberCount();
  readonly faults: unknown[] = [];
  readonly received: Message[] = [];
  /** Operations that were begun, and how to end each. */
  readonly begun: {
    method: string;
    parameters: unknown;
    end(result: unknown): void;
    fail(error: Error): void;
  }[] = [];
  /** Whether the peer reads; what it does not read stays unsent. */
  reads = true;
  isPaused = false;
  closedWith: string | undefined;
  terminated = false;
  events: AsyncIterable<unknown> = { async *[Symbol.asyncIterator]() {} };
  pulled = 0;
  #unsent: (() => void)[] = [];
  readonly connection: RpcConnection;

  constructor(more: Partial<RpcParts> = {}) {
    this.connection = new RpcConnection({
      channel: this,
      dispatcher: {
        callUnchecked: (method, parameters) =>
          new Promise((end, fail) => this.begun.push({ method, parameters, end, fail })),
      },
      callerOf: (token) => (token === 'good' ? LOCAL_CALLER : undefined),
      subscribe: (_name, _parameters, _caller, signal) => this.#counted(signal),
      subscribers: this.subscribers,
      after: (delayMs, task) => this.environment.after(delayMs, task),
      limits: LIMITS,
      onFault: (error) => this.faults.push(error),
      ...more,
    });
  }

  async *#counted(signal: AbortSignal): AsyncGenerator<unknown> {
    for await (const event of this.events) {
      if (signal.aborted) return;
      this.pulled += 1;
      yield event;
    }
  }

  async say(...values: unknown[]): Promise<void> {
    for (const value of values)
      this.connection.receive(typeof value === 'string' ? value : JSON.stringify(value));
    await settle();
  }

  async authenticate(): Promise<void> {
    await this.say({ jsonrpc: '2.0', id: 'auth', method: 'auth', params: { token: 'good' } });
    this.received.length = 0;
  }

  send(frame: Buffer, sent: () => void): void {
    const value = JSON.parse(frame.toString()) as Message | Message[];
    this.received.push(...(Array.isArray(value) ? value : [value]));
    this.#unsent.push(sent);
    if (this.reads) this.read();
  }

  /** Reads everything that was sent. */
  read(): void {
    const sent = this.#unsent;
    this.#unsent = [];
    queueMicrotask(() => {
      for (const each of sent) each();
    });
  }

  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  close(code: number, reason: string): void {
    this.closedWith = `${code} ${reason}`;
  }
  terminate(): void {
    this.terminated = true;
  }
}

const request = (id: unknown, method = 'daemon.status', params: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

test('auth: the first request shows the token, and everything after it is carried out', async () => {
  const peer = new Peer();
  await peer.say(request(1, 'auth', { token: 'good' }), request(2));
  assert.equal(peer.received, [{ jsonrpc: '2.0', id: 1, result: { scope: 'local' } }]);
  assert.is(peer.begun.length, 1);
  assert.is(peer.environment.waiting, 0);
});

test('auth: anything else first is refused, nothing is done, and there is no second try', async () => {
  const firsts: unknown[] = [
    request(1),
    request(1, 'auth', { token: 'bad' }),
    request(1, 'auth', {}),
    request(1, 'auth', { token: { toString: 'good' } }),
    [request(1, 'auth', { token: 'good' })],
    request(1, 'log.subscribe'),
    '{',
  ];
  for (const first of firsts) {
    const peer = new Peer();
    await peer.say(first, request(2, 'auth', { token: 'good' }), request(3));
    assert.is(peer.closedWith, '1008 unauthorized', JSON.stringify(first));
    assert.equal(
      peer.received.map(({ error }) => error?.data.code),
      ['unauthorized'],
    );
    assert.is(peer.begun.length, 0);
  }
});

test('auth: a peer that says nothing is let go', async () => {
  const peer = new Peer();
  await peer.environment.pass(LIMITS.authTimeoutMs - 1);
  assert.is(peer.closedWith, undefined);
  await peer.environment.pass(1);
  assert.is(peer.closedWith, '1008 unauthorized');
  await peer.environment.pass(LIMITS.closeTimeoutMs);
  assert.is(peer.terminated, true);
});

test('auth: the connection ends when its token is revoked', async () => {
  const revoked = new AbortController();
  const caller: Caller = { scope: 'web', tokenId: 't', revoked: revoked.signal };
  const peer = new Peer({ callerOf: () => caller });
  await peer.authenticate();
  await peer.say(request(1));
  revoked.abort();
  assert.is(peer.closedWith, '1008 unauthorized');
  peer.begun[0]?.end('late');
  await settle();
  assert.equal(peer.received, []);
  const late = new Peer({ callerOf: () => caller });
  await late.say(request(1, 'auth', { token: 'x' }));
  assert.is(late.closedWith, '1008 unauthorized');
});

test('requests: answered as they end, each under its id; notifications are not', async () => {
  const peer = new Peer();
  await peer.authenticate();
  await peer.say(request('a', 'one', { x: 1 }), request(undefined, 'two'));
  peer.begun[1]?.end('unheard');
  peer.begun[0]?.fail(new DaemonError('bridge_not_found', 'none', { bridgeId: 'b' }));
  await settle();
  const data = { code: 'bridge_not_found', message: 'none', details: { bridgeId: 'b' } };
  assert.equal(peer.received, [{ jsonrpc: '2.0', id: 'a', error: { code: -32_000, message: 'none', data } }]);
  assert.equal(peer.begun[0]?.parameters, { x: 1 });
});

test('requests: a fault is told to nobody but the log', async () => {
  const peer = new Peer();
  await peer.authenticate();
  await peer.say(request(1));
  peer.begun[0]?.fail(new Error('the secret of the house'));
  await settle();
  assert.is(peer.received[0]?.error?.data.code, 'internal');
  assert.not.match(JSON.stringify(peer.received), 'secret');
  assert.is(peer.faults.length, 1);
});

test('requests: a batch is answered at once and in its order, without its notifications', async () => {
  const peer = new Peer();
  await peer.authenticate();
  await peer.say([request(1, 'one'), request(undefined, 'two')]);
  peer.begun[1]?.end(2);
  await settle();
  assert.equal(peer.received, []);
  peer.begun[0]?.end(1);
  await settle();
  assert.equal(peer.received, [{ jsonrpc: '2.0', id: 1, result: 1 }]);
  peer.received.length = 0;
  await peer.say([request(undefined, 'three')]);
  peer.begun[2]?.end(3);
  await settle();
  assert.equal(peer.received, []);
});

test('requests: what is beyond the limit waits, unread, and is carried out in its order', async () => {
  const peer = new Peer();
  await peer.authenticate();
  await peer.say(request(1), request(2), request(3), [request(4), request(5), request(6)]);
  assert.is(peer.begun.length, 2);
  assert.is(peer.isPaused, true);
  for (let ended = 0; ended < 6; ended += 1) {
    assert.is(peer.begun.length, Math.min(ended + 2, 6));
    peer.begun[ended]?.end(ended);
    await settle();
  }
  assert.is(peer.isPaused, false);
  assert.equal(
    peer.received.map(({ id }) => id),
    [1, 2, 3, 4, 5, 6],
  );
});

test('requests: nothing is begun while answers are left unread', async () => {
  const peer = new Peer();
  await peer.authenticate();
  peer.reads = false;
  await peer.say(request(1), request(2));
  peer.begun[0]?.end('x'.repeat(LIMITS.unsentBytesMax));
  await settle();
  await peer.say(request(3));
  peer.begun[1]?.end('y');
  await settle();
  assert.is(peer.begun.length, 2);
  assert.is(peer.isPaused, true);
  peer.read();
  await settle();
  assert.is(peer.begun.length, 3);
});

/** Events without end, each about a third of what may be left unread. */
const endless: AsyncIterable<unknown> = {
  async *[Symbol.asyncIterator]() {
    for (let seq = 1; ; seq += 1) yield { seq };
  },
};

test('subscriptions: the answer comes before the first event, and nothing after the end', async () => {
  const peer = new Peer();
  await peer.authenticate();
  peer.events = {
    async *[Symbol.asyncIterator]() {
      yield 'first';
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield 'second';
    },
  };
  await peer.say(request(1, 'log.subscribe', { from: 1 }));
  assert.equal(peer.received[0]?.result, { subscription: 1 });
  assert.equal(peer.received[1], {
    jsonrpc: '2.0',
    method: 'log.subscribe',
    params: { subscription: 1, event: 'first' },
  });
  assert.is(peer.subscribers.current, 1);
  await peer.say(request(2, 'unsubscribe', { subscription: 1 }));
  assert.equal(peer.received[2]?.result, {});
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.is(peer.received.length, 3);
  assert.is(peer.subscribers.current, 0);
});

test('subscriptions: one that does not exist cannot be ended', async () => {
  const peer = new Peer();
  await peer.authenticate();
  for (const subscription of [1, '1', undefined, null, {}]) {
    await peer.say(request(1, 'unsubscribe', { subscription }));
    assert.is(peer.received.at(-1)?.error?.code, -32_602);
  }
});

test('subscriptions: no more than the limit on one connection, and none that nobody could name', async () => {
  const peer = new Peer();
  await peer.authenticate();
  peer.events = {
    async *[Symbol.asyncIterator]() {
      await new Promise(() => {});
    },
  };
  for (const id of [1, 2, 3]) await peer.say(request(id, 'live.subscribe'));
  assert.is(peer.received[2]?.error?.data.code, 'too_large');
  await peer.say(request(undefined, 'live.subscribe'));
  assert.is(peer.received.length, 3);
  assert.is(peer.subscribers.current, 2);
});

test('subscriptions: a peer that does not read is pulled for no further', async () => {
  const peer = new Peer();
  await peer.authenticate();
  peer.events = endless;
  peer.reads = false;
  await peer.say(request(1, 'log.subscribe'));
  await settle();
  const { pulled } = peer;
  assert.ok(pulled > 0 && pulled < 10, String(pulled));
  await settle();
  assert.is(peer.pulled, pulled);
  // It reads again in time, and goes on without a gap.
  await peer.environment.pass(LIMITS.stallTimeoutMs - 1);
  peer.read();
  await settle();
  assert.ok(peer.pulled > pulled);
  assert.is(peer.closedWith, undefined);
  const seqs = peer.received.flatMap(
    ({ params }) => (params?.event as { seq: number } | undefined)?.seq ?? [],
  );
  assert.equal(
    seqs,
    seqs.map((_, index) => index + 1),
  );
});

test('subscriptions: a peer that reads nothing for long is told so, and let go', async () => {
  const peer = new Peer();
  await peer.authenticate();
  peer.events = endless;
  peer.reads = false;
  await peer.say(request(1, 'log.subscribe'));
  await peer.environment.pass(LIMITS.stallTimeoutMs);
  const last = peer.received.at(-1);
  assert.is(last?.method, 'log.subscribe');
  assert.is(last?.params?.error?.code, 'too_slow');
  assert.is(peer.closedWith, '1013 too_slow');
  await settle();
  assert.is(peer.subscribers.current, 0);
  await peer.environment.pass(LIMITS.closeTimeoutMs);
  assert.is(peer.terminated, true);
});

test('subscriptions: what ends one in the middle is its last notification', async () => {
  const peer = new Peer();
  await peer.authenticate();
  peer.events = {
    async *[Symbol.asyncIterator]() {
      yield 1;
      throw new DaemonError('too_slow', 'too much was left unread');
    },
  };
  await peer.say(request(1, 'live.subscribe'));
  assert.is(peer.received.at(-1)?.params?.error?.code, 'too_slow');
  assert.is(peer.subscribers.current, 0);
  assert.is(peer.closedWith, undefined);
});

test('end: a connection that is finished answers what is under way and takes nothing more', async () => {
  const peer = new Peer();
  await peer.authenticate();
  await peer.say(request(1));
  const finished = peer.connection.finish();
  await peer.say(request(2));
  assert.is(peer.begun.length, 1);
  assert.is(peer.closedWith, undefined);
  peer.begun[0]?.end('last');
  await finished;
  assert.is(peer.received[0]?.result, 'last');
  assert.is(peer.closedWith, '1001 store_closed');
});

test('end: of a line that is cut nothing is left behind', async () => {
  const peer = new Peer();
  await peer.authenticate();
  peer.events = endless;
  peer.reads = false;
  await peer.say(request(1, 'log.subscribe'), request(2), request(3), request(4));
  peer.connection.closed();
  await settle();
  assert.is(peer.subscribers.current, 0);
  assert.is(peer.environment.waiting, 0);
  assert.ok(peer.begun.length <= 2);
});

test.run();
