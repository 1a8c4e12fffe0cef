import { GATHER_WINDOW_MS } from '@turnlog/bridge';
import type { LiveEvent, OperationName, OperationParameters, OperationResult } from '@turnlog/events';
import * as assert from 'uvu/assert';
import { HOST_RETURN_MS } from '../bridges/bridge-dependencies.ts';
import type { Daemon } from '../daemon.ts';
import { type Losses, type Machine, settled } from './machine.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { assertShows, assertShowsThen, type Snapshot } from './recorded-checks.ts';
import { type Command, conversationKeyAt, PLACES, type Sending } from './recorded-commands.ts';
import { RecordedHost, type Step } from './recorded-host.ts';
import { assertOneTurnAtATime, assertReportsLogged, type Logged, remainsOf } from './recorded-log.ts';
import { type Entry, type Place, RecordedModel, sessionKeyAt } from './recorded-model.ts';

/** Hosts, a daemon that is killed now and then, and the model beside it. */
export class RecordedWorld {
  readonly #machine: Machine;
  #daemon: Daemon;
  readonly #hosts: RecordedHost[];
  #journal: Entry[] = [];
  /** What the daemon has accepted of each bridge that is open; its host may not know. */
  readonly #accepted = new Map<Place, number>();
  /** Since when the daemon waits for a host to return. */
  readonly #awaited = new Map<Place, number>();
  /** What was said to be on disk, of each life of a bridge. */
  readonly #durable = new Map<string, number>();
  #losses: Losses = { index: false, projections: false };
  #tokens = 1_000_000;
  readonly #snapshots: Snapshot[] = [];

  private constructor(machine: Machine, daemon: Daemon) {
    this.#machine = machine;
    this.#daemon = daemon;
    this.#hosts = PLACES.map((place) => new RecordedHost(place, () => ++this.#tokens));
  }

  static async on(machine: Machine): Promise<RecordedWorld> {
    return new RecordedWorld(machine, await machine.start());
  }

  async carryOut(command: Command): Promise<void> {
    switch (command.do) {
      case 'record':
        await this.#record(this.#host(command.host));
        break;
      case 'report':
        await this.#report(this.#host(command.host), command.steps, command.sending);
        break;
      case 'report at once':
        await this.#reportAtOnce(command.hosts, command.steps);
        break;
      case 'close': {
        const host = this.#host(command.host);
        if (!(await this.#isReady(host))) break;
        host.close(command.isIdle);
        await this.#send(host, 'numbered');
        break;
      }
      case 'stop':
        await this.#stop(this.#host(command.host));
        break;
      case 'clear': {
        const conversationKey = conversationKeyAt(command.conversation);
        await this.#write('conversation.clear', { conversationKey }, 'conversation_cleared', {
          kind: 'cleared',
          conversationKey,
        });
        break;
      }
      case 'reset': {
        const { place } = this.#host(command.host);
        const conversation = command.withConversation ? { conversationKey: place.conversationKey } : {};
        const parameters = { sessionKey: sessionKeyAt(place), ...conversation };
        await this.#write('bridge.resetSession', parameters, 'session_reset', {
          kind: 'reset',
          ...parameters,
        });
        break;
      }
      case 'alias':
        await this.#alias(conversationKeyAt(command.from), conversationKeyAt(command.to));
        break;
      case 'pass':
        await this.#pass(command.durationMs);
        break;
      case 'kill':
        this.#losses = command.losses;
        await this.#revive();
        break;
      case 'restart':
        await this.#restart();
        break;
      case 'crash at the next append':
        this.#machine.life.crashAt = command.point;
        this.#losses = command.losses;
    }
    await this.#check();
  }

  /** What holds at the end of every history. */
  async finish(): Promise<void> {
    this.#machine.life.crashAt = undefined;
    await this.#restart();
    await this.#check();
    const log = await this.#readLog();
    assertOneTurnAtATime(log);
    assertReportsLogged(log, this.#journal, ({ place, life, number }) => {
      return number <= (this.#durable.get(`${place.bridgeId}/${life}`) ?? 0);
    });
    await assertShowsThen(this.#daemon, this.#snapshots);
    for (const { name, equal, differences } of await this.#daemon.projections.check()) {
      assert.ok(equal, `${name} equals its rebuild: ${differences.join(', ')}`);
    }
    const failures = this.#machine.life.notices.filter((notice) => 'error' in notice);
    assert.equal(failures, []);
    await this.end();
    assert.is(this.#machine.life.environment.waiting, 0, 'nothing waits after the close');
  }

  async end(): Promise<void> {
    this.#machine.life.crashAt = undefined;
    if (!this.#machine.life.isDead) await this.#daemon.close();
  }

  #host(index: number): RecordedHost {
    return this.#hosts[index % this.#hosts.length] as RecordedHost;
  }

  #call<Name extends OperationName>(
    name: Name,
    parameters: OperationParameters<Name>,
  ): Promise<Outcome<OperationResult<Name>>> {
    return outcomeOf(this.#daemon, this.#machine.life, name, parameters);
  }

  /** A command that appends one event; where it was cut off, the log says whether it did. */
  async #write<Name extends OperationName>(
    name: Name,
    parameters: OperationParameters<Name>,
    eventType: string,
    entry: Entry,
  ): Promise<Outcome<OperationResult<Name>>> {
    const head = this.#daemon.log.head();
    const outcome = await this.#call(name, parameters);
    if (outcome.is === 'answered') this.#journal.push(entry);
    if (outcome.is === 'killed') {
      await this.#revive((tail) => {
        if (tail.some(({ type }) => type === eventType)) this.#journal.push(entry);
      }, head);
    }
    return outcome;
  }

  async #alias(from: string, to: string): Promise<void> {
    const reason = this.#model().refusalOfAlias(from, to);
    const outcome = await this.#write('conversation.alias', { from, to }, 'conversation_aliased', {
      kind: 'aliased',
      from,
      to,
    });
    if (outcome.is !== 'answered') return;
    const { seq: _, ...answer } = outcome.value;
    assert.equal(answer, reason === undefined ? { aliased: true } : { aliased: false, reason });
  }

  async #record(host: RecordedHost): Promise<void> {
    if (!(await this.#hasToldAll(host))) return;
    const { place } = host;
    const open = this.#accepted.get(place);
    const outcome = await this.#call('bridge.record', { ...place });
    if (outcome.is === 'killed') {
      await this.#revive(undefined, 0, host);
      return;
    }
    assert.is(outcome.is, 'answered');
    if (outcome.is !== 'answered') return;
    const { attached, accepted, durableThrough } = outcome.value;
    assert.is(attached, open !== undefined);
    assert.is(accepted, open ?? 0);
    this.#awaited.delete(place);
    if (!attached) this.#begin(host);
    this.#learn(host, accepted, durableThrough);
  }

  #begin(host: RecordedHost): void {
    host.begin();
    this.#journal.push({ kind: 'recorded', place: host.place });
    this.#accepted.set(host.place, 0);
  }

  /** Whether the host's bridge is open and everything that it reported was answered. */
  async #isReady(host: RecordedHost): Promise<boolean> {
    return (await this.#hasToldAll(host)) && host.isOpen;
  }

  async #hasToldAll(host: RecordedHost): Promise<boolean> {
    return !host.isOpen || !host.hasUnanswered || (await this.#send(host, 'again'));
  }

  async #report(host: RecordedHost, steps: readonly Step[], sending: Sending): Promise<void> {
    if (!(await this.#isReady(host))) return;
    for (const step of steps) host.say(step);
    await this.#send(host, sending);
  }

  async #reportAtOnce([one, other]: [number, number], steps: [Step[], Step[]]): Promise<void> {
    const hosts = [this.#host(one), this.#host(other)] as const;
    if (hosts[0] === hosts[1] || !areInOrder(hosts[0].place, hosts[1].place)) return;
    for (const host of hosts) {
      if (!(await this.#isReady(host)) || !(await this.#send(host, 'numbered'))) return;
    }
    const calls = hosts.map((host, index) => {
      for (const step of steps[index] ?? []) host.say(step);
      return this.#tell(host, host.accepted + 1);
    });
    const outcomes = await Promise.all(calls);
    if (outcomes.some(({ is }) => is === 'killed')) await this.#revive();
  }

  /** Answers whether everything the host has was taken. */
  async #send(host: RecordedHost, sending: Sending): Promise<boolean> {
    const { place } = host;
    const known = this.#accepted.get(place);
    if (sending === 'gap' && known !== undefined) {
      const outcome = await this.#call('bridge.event', {
        bridgeId: place.bridgeId,
        first: known + 2,
        events: [{ type: 'ready' }],
      });
      this.#assertGap(outcome, known);
      this.#awaited.delete(place);
    }
    let first = (sending === 'again' ? host.durableThrough : host.accepted) + 1;
    if (known !== undefined && first > known + 1) {
      this.#assertGap(await this.#call('bridge.event', host.callFrom(first)), known);
      this.#awaited.delete(place);
      first = known + 1;
    }
    const isCurrent = sending === 'unnumbered' && first === (known ?? -1) + 1;
    const outcome = await this.#tell(host, first, isCurrent);
    if (outcome.is === 'killed') await this.#revive();
    return outcome.is === 'answered';
  }

  #assertGap(outcome: Outcome<unknown>, accepted: number): void {
    assert.is(outcome.is, 'refused');
    if (outcome.is !== 'refused') return;
    assert.is(outcome.error.code, 'event_gap');
    assert.equal(outcome.error.details, { accepted });
  }

  async #tell(host: RecordedHost, first: number, isUnnumbered = false): Promise<Outcome<unknown>> {
    const { place, life, reports } = host;
    const known = this.#accepted.get(place) ?? reports.length;
    for (let number = known + 1; number <= reports.length; number += 1) {
      const report = reports[number - 1];
      if (report !== undefined) this.#journal.push({ kind: 'report', place, life, number, report });
    }
    const { first: _, ...unnumbered } = host.callFrom(first);
    const outcome = await this.#call('bridge.event', isUnnumbered ? unnumbered : host.callFrom(first));
    if (outcome.is === 'killed') return outcome;
    if (outcome.is === 'refused') throw outcome.error;
    const { accepted, durableThrough, emitted } = outcome.value;
    assert.is(accepted, reports.length, 'everything that was sent is accepted');
    assert.ok((emitted as LiveEvent[]).every(({ bridgeId }) => bridgeId === place.bridgeId));
    this.#awaited.delete(place);
    this.#learn(host, accepted, durableThrough);
    const last = reports.at(-1)?.type;
    if (last === 'closed' || last === 'idle_stopped') {
      host.isOpen = false;
      this.#accepted.delete(place);
    }
    return outcome;
  }

  #learn(host: RecordedHost, accepted: number, durableThrough: number): void {
    const before = this.#durable.get(`${host.place.bridgeId}/${host.life}`) ?? 0;
    assert.ok(durableThrough >= before, 'what was on disk stays there');
    assert.ok(durableThrough <= accepted);
    host.accepted = accepted;
    host.durableThrough = durableThrough;
    this.#accepted.set(host.place, accepted);
    this.#durable.set(`${host.place.bridgeId}/${host.life}`, durableThrough);
  }

  async #stop(host: RecordedHost): Promise<void> {
    if (!(await this.#isReady(host))) return;
    const { place } = host;
    const outcome = await this.#call('bridge.stop', { bridgeId: place.bridgeId });
    if (outcome.is === 'killed') {
      await this.#revive();
      if (this.#accepted.has(place)) return;
    } else {
      assert.is(outcome.is, 'answered');
    }
    this.#journal.push({ kind: 'stopped', place });
    this.#accepted.delete(place);
    host.isOpen = false;
  }

  async #pass(durationMs: number): Promise<void> {
    const head = this.#daemon.log.head();
    await this.#machine.life.environment.pass(durationMs);
    await settled();
    if (this.#machine.life.isDead) {
      await this.#revive((tail) => {
        for (const { type, data } of tail) {
          const host = this.#hosts.find(({ place }) => place.bridgeId === data.bridgeId);
          if (type !== 'turn_interrupted' || data.reason !== 'restart' || host === undefined) continue;
          this.#journal.push({ kind: 'abandoned', place: host.place });
        }
      }, head);
      return;
    }
    if (durationMs >= GATHER_WINDOW_MS) this.#everythingIsDurable();
    const model = this.#model();
    for (const [place, sinceMs] of this.#awaited) {
      if (this.#machine.life.environment.now() - sinceMs < HOST_RETURN_MS) continue;
      this.#awaited.delete(place);
      if (model.openTurnOf(place) !== undefined) this.#journal.push({ kind: 'abandoned', place });
    }
  }

  async #restart(): Promise<void> {
    const closed = this.#daemon.close().then(() => 'closed');
    const end = await Promise.race([closed, this.#machine.life.killed]);
    if (end === 'closed') this.#everythingIsDurable();
    await this.#revive();
  }

  /** After the window of the deltas, and after a close, whatever was accepted is on disk. */
  #everythingIsDurable(): void {
    for (const { place, life } of this.#hosts) {
      const accepted = this.#accepted.get(place);
      if (accepted !== undefined) this.#durable.set(`${place.bridgeId}/${life}`, accepted);
    }
  }

  /** Another daemon takes over from one that was closed or killed; what it knows is what reached the log. */
  async #revive(
    settle: (tail: readonly Logged[]) => void = () => undefined,
    head = 0,
    recording?: RecordedHost,
  ): Promise<void> {
    await this.#machine.recover(this.#losses);
    this.#losses = { index: false, projections: false };
    this.#daemon = await this.#machine.start();
    const log = await this.#readLog();
    settle(log.slice(head));
    const { bridges } = await this.#daemon.dispatcher.call('bridge.list', {});
    for (const host of this.#hosts) {
      const { place, life } = host;
      const open = bridges.find(({ bridgeId }) => bridgeId === place.bridgeId);
      if (open === undefined) {
        this.#accepted.delete(place);
      } else if (host === recording && !this.#accepted.has(place)) {
        this.#begin(host);
      } else {
        const through = open.accepted ?? 0;
        assert.ok(
          through >= (this.#durable.get(`${place.bridgeId}/${life}`) ?? 0),
          'what was on disk is there',
        );
        this.#accepted.set(place, through);
        this.#journal = this.#journal.flatMap((entry) =>
          entry.kind === 'report' && entry.place === place && entry.life === life && entry.number > through
            ? remainsOf(entry, log)
            : [entry],
        );
      }
    }
    const model = this.#model();
    this.#awaited.clear();
    for (const { place } of this.#hosts) {
      if (model.openTurnOf(place) !== undefined)
        this.#awaited.set(place, this.#machine.life.environment.now());
    }
  }

  async #readLog(): Promise<Logged[]> {
    const log: Logged[] = [];
    for await (const event of this.#daemon.log.read()) log.push(event as Logged);
    return log;
  }

  #model(): RecordedModel {
    return RecordedModel.of(this.#journal);
  }

  async #check(): Promise<void> {
    const shown = await assertShows(this.#daemon, this.#model());
    this.#snapshots.push({ seq: this.#daemon.log.head(), shown });
  }
}

/** Whether calls for both are carried out in the order in which they are made, as far as it can be seen. */
function areInOrder(one: Place, other: Place): boolean {
  return one.conversationKey === other.conversationKey || sessionKeyAt(one) !== sessionKeyAt(other);
}
