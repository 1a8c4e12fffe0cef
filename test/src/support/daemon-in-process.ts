import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveEvent, Message } from '@turnlog/events';
import { type Daemon, openDaemon } from '@turnlog/turnlogd';

/** A host's view of a daemon that runs in the test's own process. */
export class Host {
  daemon: Daemon;
  #turn = 0;

  private constructor(
    readonly dataDirectory: string,
    daemon: Daemon,
  ) {
    this.daemon = daemon;
  }

  static async open(dataDirectory: string): Promise<Host> {
    return new Host(dataDirectory, await openDaemon({ dataDirectory }));
  }

  async restart(): Promise<void> {
    await this.daemon.close();
    this.daemon = await openDaemon({ dataDirectory: this.dataDirectory });
  }

  async record(bridgeId: string, provider: string, conversationKey: string): Promise<void> {
    await this.daemon.dispatcher.call('bridge.record', { bridgeId, provider, conversationKey });
  }

  async report(bridgeId: string, ...events: object[]): Promise<LiveEvent[]> {
    const { emitted } = await this.daemon.dispatcher.call('bridge.event', { bridgeId, events });
    return emitted as LiveEvent[];
  }

  /** A whole turn; answers its id. */
  async turn(bridgeId: string, prompt: string, answer: string): Promise<string> {
    this.#turn += 1;
    const turnId = `turn-${this.#turn}`;
    await this.report(
      bridgeId,
      { type: 'prompt', text: prompt },
      { type: 'turn_start', turnId },
      { type: 'turn_end', turnId, text: answer },
    );
    return turnId;
  }

  async contents(conversationKey: string, at?: number): Promise<string[]> {
    const { messages } = await this.load(conversationKey, at);
    return messages.map(({ content }) => content);
  }

  async load(conversationKey: string, at?: number): Promise<{ messages: Message[]; seq: number }> {
    return await this.daemon.dispatcher.call('conversation.load', {
      conversationKey,
      ...(at !== undefined && { at }),
    });
  }

  /** What the meter shows: undefined where it is unknown. */
  async meter(sessionKey: string): Promise<number | undefined> {
    const { usage } = await this.daemon.dispatcher.call('session.get', { sessionKey });
    return usage?.contextTokens;
  }
}

/** A host on a daemon of its own; `close` takes everything away again. */
export async function openHost(): Promise<{ host: Host; close: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'turnlog-test-'));
  const host = await Host.open(join(directory, 'data'));
  const close = async () => {
    await host.daemon.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { host, close };
}

export async function withHost<Result>(task: (host: Host) => Promise<Result>): Promise<Result> {
  const { host, close } = await openHost();
  try {
    return await task(host);
  } finally {
    await close();
  }
}
