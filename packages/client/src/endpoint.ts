/** A way to a daemon. */
export interface Endpoint {
  /** Where it is, such as `http://127.0.0.1:7717`; over a socket this still names it to people. */
  address: string;
  /** The daemon's Unix socket, where it is reached through that. */
  socketPath?: string;
  token: string;
}

/** The ways to the daemon as they are now, the best first; none where no daemon runs. */
export type Locate = () => readonly Endpoint[];

/** The place for a message; never the token. */
export function placeOf({ address, socketPath }: Endpoint): string {
  return socketPath ?? address;
}
