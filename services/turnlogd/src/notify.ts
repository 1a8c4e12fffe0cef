/**
 * Tells systemd how the daemon is doing, where systemd asked for it (`Type=notify` in a unit).
 *
 * The socket it listens on takes datagrams, which Node.js does not send, so its own `systemd-notify` does it.
 * That command waits until systemd has read the message, which would else be lost with its short-lived sender.
 */
import { execFile } from 'node:child_process';
import { type Environment, systemEnvironment } from './environment.ts';

/** How long `systemd-notify` may take. */
const SEND_TIMEOUT_MS = 10_000;

export interface ServiceManager {
  /** The daemon serves. From now on it says that it is alive, as often as the manager wants to hear it. */
  ready(status: string): Promise<void>;
  /** The daemon finishes what it accepted, and ends. */
  stopping(): Promise<void>;
}

export interface ServiceManagerOptions {
  /** Told when a message could not be sent. The daemon goes on; what systemd makes of it is for its unit to say. */
  onFailure(error: Error): void;
  pid?: number;
  after?: Environment['after'];
}

/**
 * The manager that started this process; one that hears nothing where there is none.
 * @param variables the environment of the process; what is meant for this process alone is taken out of it
 */
export function serviceManagerOf(
  variables: NodeJS.ProcessEnv,
  { onFailure, pid = process.pid, after = systemEnvironment.after }: ServiceManagerOptions,
): ServiceManager {
  const { NOTIFY_SOCKET: socket, PATH: path = '' } = variables;
  const intervalMs = aliveIntervalMs(variables, pid);
  // A process that this one starts must not speak for it.
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete variables[name];
  if (!socket) return { ready: async () => {}, stopping: async () => {} };

  // One message after another, so that none overtakes the one before it.
  let sent: Promise<void> = Promise.resolve();
  const send = (...states: string[]): Promise<void> => {
    sent = sent.then(() => notify(states, { NOTIFY_SOCKET: socket, PATH: path })).catch(onFailure);
    return sent;
  };

  let cancel = () => {};
  const stayAlive = (delayMs: number): void => {
    // A timer that comes due says that the event loop turns. A full disk is no reason to be restarted.
    cancel = after(delayMs, () => {
      stayAlive(delayMs);
      void send('WATCHDOG=1');
    });
  };
  return {
    async ready(status) {
      if (intervalMs !== undefined) stayAlive(intervalMs);
      await send('READY=1', `STATUS=${status}`);
    },
    async stopping() {
      cancel();
      await send('STOPPING=1', 'STATUS=finishing what was accepted');
    },
  };
}

/** Half of what the manager waits for a sign of life, which is what it recommends; undefined where it waits for none. */
function aliveIntervalMs(
  { WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv,
  pid: number,
): number | undefined {
  const isMeant = WATCHDOG_PID === undefined || WATCHDOG_PID === String(pid);
  const microseconds = Number(WATCHDOG_USEC);
  return isMeant && microseconds > 0 ? microseconds / 2_000 : undefined;
}

function notify(states: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('systemd-notify', states, { env, timeout: SEND_TIMEOUT_MS }, (error, _stdout, stderr) => {
      if (error === null) return resolve();
      reject(new Error(`systemd was not told "${states.join(' ')}": ${stderr.trim() || error.message}`));
    });
  });
}
