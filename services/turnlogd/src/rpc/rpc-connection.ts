import { isSubscriptionName, type SubscriptionName } from '@turnlog/events';
import type { Caller } from '../access/caller.ts';
import { DaemonError } from '../errors.ts';
import { errorBodyOf } from '../operations/dispatcher.ts';
import { tooSlow } from '../operations/refusals.ts';
import {
  failure,
  parseFrame,
  type RpcFrame,
  type RpcPart,
  type RpcRequest,
  type RpcResponse,
  success,
} from './json-rpc.ts';
import { Outbox } from './outbox.ts';
import { CLOSE, type RpcParts } from './rpc-parts.ts';
import { RpcSubscriptions } from './rpc-subscriptions.ts';
import { Slots } from './slots.ts';

/** What is done for a part of a frame: its answer, and what may be done only when that is sent. */
interface Done {
  response: RpcResponse | undefined;
  afterwards?: () => void;
}

/**
 * One peer that speaks JSON-RPC. Its first request shows the token. Requests are begun in the order in which
 * they come and answered as they are done; while too many are under way, or too much is unsent, nothing more
 * is read.
 */
export class RpcConnection {
  readonly #parts: RpcParts;
  readonly #outbox: Outbox;
  readonly #subscriptions: RpcSubscriptions;
  readonly #inFlight: Slots;
  readonly #answering = new Set<Promise<void>>();
  readonly #cancelAuthTimer: () => void;
  readonly #onRevoked = () => this.close(CLOSE.refused, 'unauthorized');
  #caller: Caller | undefined;
  #frames: string[] = [];
  #isWorking = false;
  #isFinishing = false;
  #isClosing = false;

  constructor(parts: RpcParts) {
    const { channel, limits, after } = parts;
    this.#parts = parts;
    this.#outbox = new Outbox(channel, limits, after, () => this.#giveUp());
    this.#subscriptions = new RpcSubscriptions(
      this.#outbox,
      limits.subscriptionsMax,
      parts.subscribers,
      parts.onFault,
    );
    this.#inFlight = new Slots(limits.requestsInFlightMax);
    this.#cancelAuthTimer = after(limits.authTimeoutMs, () => this.close(CLOSE.refused, 'unauthorized'));
  }

  get isAuthenticated(): boolean {
    return this.#caller !== undefined;
  }

  /** Takes a frame from the peer. */
  receive(text: string): void {
    if (this.#isClosing || this.#isFinishing) return;
    this.#frames.push(text);
    if (!this.#isWorking) void this.#work();
  }

  /** Ends the connection and tells why; what is under way is carried out and not answered. */
  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    const { channel, limits, after } = this.#parts;
    this.closed();
    // What the peer says of the end is to be read.
    channel.resume();
    channel.close(code, reason);
    after(limits.closeTimeoutMs, () => channel.terminate());
  }

  /** Answers what is under way, takes nothing more, and ends. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    this.#frames = [];
    this.#parts.channel.pause();
    await Promise.allSettled(this.#answering);
    this.close(CLOSE.goingAway, 'store_closed');
  }

  /** The channel is closed, by whichever side. */
  closed(): void {
    this.#isClosing = true;
    this.#frames = [];
    this.#cancelAuthTimer();
    this.#caller?.revoked?.removeEventListener('abort', this.#onRevoked);
    this.#subscriptions.end();
    this.#outbox.close();
  }

  async #work(): Promise<void> {
    const { channel, onFault } = this.#parts;
    this.#isWorking = true;
    try {
      for (let text = this.#frames.shift(); text !== undefined; text = this.#frames.shift()) {
        const frame = parseFrame(text);
        if (this.#caller === undefined) this.#authenticate(frame);
        else await this.#take(frame, this.#caller);
      }
    } catch (error) {
      onFault(error);
    } finally {
      this.#isWorking = false;
      if (!this.#isClosing && !this.#isFinishing) channel.resume();
    }
  }

  /** Only one single request can come first, and a peer that sends another does not get a second try. */
  #authenticate({ isBatch, parts: [part] }: RpcFrame): void {
    const request = !isBatch && part !== undefined && 'request' in part ? part.request : undefined;
    const token = request?.method === 'auth' ? (request.parameters as { token?: unknown }).token : undefined;
    const caller = typeof token === 'string' ? this.#parts.callerOf(token) : undefined;
    if (caller === undefined || caller.revoked?.aborted) {
      const error = new DaemonError(
        'unauthorized',
        'the first request must be "auth" with the parameter "token": what the file "token" in the data ' +
          'directory holds',
      );
      this.#send([{ response: failure(request?.id ?? null, error.toBody()) }], false);
      this.close(CLOSE.refused, 'unauthorized');
      return;
    }
    this.#caller = caller;
    this.#cancelAuthTimer();
    caller.revoked?.addEventListener('abort', this.#onRevoked);
    this.#send([done(request?.id, { scope: caller.scope })], false);
  }

  /** Begins everything that a frame asks, each as soon as there is room for it. */
  async #take({ isBatch, parts }: RpcFrame, caller: Caller): Promise<void> {
    const doing: Promise<Done>[] = [];
    for (const part of parts) {
      while (!this.#isClosing && !(this.#inFlight.isFree && this.#outbox.hasRoom)) {
        this.#parts.channel.pause();
        await this.#inFlight.free();
        await this.#outbox.room();
      }
      if (this.#isClosing) return;
      this.#inFlight.take();
      doing.push(this.#do(part, caller).finally(() => this.#inFlight.release()));
    }
    const answering = this.#answer(doing, isBatch).catch(this.#parts.onFault);
    this.#answering.add(answering);
    void answering.then(() => this.#answering.delete(answering));
  }

  async #answer(doing: readonly Promise<Done>[], isBatch: boolean): Promise<void> {
    this.#send(await Promise.all(doing), isBatch);
  }

  #send(all: readonly Done[], isBatch: boolean): void {
    const responses = all.flatMap(({ response }) => (response === undefined ? [] : [response]));
    if (isBatch && responses.length > 0) this.#outbox.send(JSON.stringify(responses));
    else for (const response of responses) this.#outbox.send(JSON.stringify(response));
    for (const { afterwards } of all) afterwards?.();
  }

  async #do(part: RpcPart, caller: Caller): Promise<Done> {
    if ('refusal' in part) return { response: part.refusal };
    const { request } = part;
    try {
      if (isSubscriptionName(request.method)) return this.#subscribe(request.method, request, caller);
      if (request.method === 'unsubscribe') return this.#unsubscribe(request);
      const { dispatcher } = this.#parts;
      return done(request.id, await dispatcher.callUnchecked(request.method, request.parameters, caller));
    } catch (error) {
      const body = errorBodyOf(error);
      if (body.code === 'internal') this.#parts.onFault(error);
      return { response: request.id === undefined ? undefined : failure(request.id, body) };
    }
  }

  #subscribe(name: SubscriptionName, { id, parameters }: RpcRequest, caller: Caller): Done {
    // Nobody would know which subscription it is.
    if (id === undefined) return { response: undefined };
    const { subscription, start } = this.#subscriptions.add(name, (signal) =>
      this.#parts.subscribe(name, parameters, caller, signal),
    );
    return { ...done(id, { subscription }), afterwards: start };
  }

  #unsubscribe({ id, parameters }: RpcRequest): Done {
    this.#subscriptions.remove((parameters as { subscription?: unknown }).subscription);
    return done(id, {});
  }

  /** The peer has not read for long: it is told so, should it read again, and let go. */
  #giveUp(): void {
    this.#subscriptions.end(tooSlow());
    this.close(CLOSE.tryAgainLater, 'too_slow');
  }
}

function done(id: RpcRequest['id'], result: unknown): Done {
  return { response: id === undefined ? undefined : success(id, result) };
}
